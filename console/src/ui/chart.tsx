// A chart of uPlot: lines or points with interval bands, a threshold, marks. The canvas has a name with its numbers, a
// cursor for the arrow keys that is announced, and a table that says the same.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { summaryOf } from "../lib/chart-words";
import { interval, time, value } from "../lib/format";
import { useWidth } from "../lib/hooks";
import { goTo, theme, zone } from "../lib/store";
import type { Mark } from "../lib/marks";
import { cutText } from "../lib/limits";
import { bands, type Line, marksPlugin, whiskersPlugin } from "./chart-draw";
import { Link } from "./parts";

export interface Series {
  label: string;
  values: Array<number | null>;
  lower?: Array<number | null>;
  upper?: Array<number | null>;
  n?: Array<number | null>;
}

export interface ChartProps {
  name: string;
  /** Seconds since 1970 where `time`, else any numbers, ascending. */
  xs: number[];
  timed: boolean;
  series: Series[];
  kind?: "line" | "bar" | "scatter";
  height?: number;
  /** Lines across; each is named under the chart and in its summary. */
  lines?: Line[] | undefined;
  marks?: Mark[];
  /** From here on values may still change: hatched. */
  openFrom?: number | undefined;
  yRange?: [number, number] | undefined;
  /** What the x axis shows, where it is more than the data. */
  xRange?: [number, number] | undefined;
  log?: boolean;
  onZoom?: (from: number, to: number) => void;
  /** The address of what stands behind a point; Enter, a click or the link below goes there. */
  hrefAt?: ((at: number) => string) | undefined;
}

export function Chart(props: ChartProps) {
  const [box, width] = useWidth<HTMLDivElement>();
  const plot = useRef<uPlot | undefined>(undefined);
  const [cursor, setAt] = useState(-1);
  // A new range may have fewer points.
  const at = cursor < props.xs.length ? cursor : -1;
  useEffect(() => {
    if (!box.current || width === 0) return undefined;
    plot.current = new uPlot(optionsOf(props, width), dataOf(props) as uPlot.AlignedData, box.current);
    plot.current.over.addEventListener("click", () => setAt((before) => clicked(plot.current, before)));
    return () => plot.current?.destroy();
  }, [width, theme.value, zone.value, props.xs, props.series, props.lines, props.marks, props.kind, props.openFrom, props.xRange?.[0], props.xRange?.[1]]);
  const move = (next: number) => {
    const to = Math.max(0, Math.min(props.xs.length - 1, next));
    setAt(to);
    const x = props.xs[to];
    if (plot.current && x !== undefined) {
      plot.current.setCursor({ left: plot.current.valToPos(x, "x"), top: props.height ? props.height / 2 : 60 });
    }
  };
  const summary = useMemo(() => summaryOf(props.name, props.series, props.lines ?? [], props.xs.length), [props.name, props.xs, props.series, props.lines]);
  const behind = at >= 0 ? props.hrefAt?.(at) : undefined;
  return (
    <figure class="chart">
      <div class="canvas" role="slider" tabIndex={0} aria-label={summary} aria-orientation="horizontal" aria-valuemin={0}
        aria-valuemax={Math.max(0, props.xs.length - 1)} aria-valuenow={Math.max(0, at)}
        aria-valuetext={at < 0 ? "Arrow keys read the values" : readout(props, at)} ref={box}
        onKeyDown={(event) => moved(event, at, props.xs.length, move, behind)} />
      <figcaption class="small">
        {props.series.length > 1 && <Legend names={props.series.map((series) => series.label)} />}
        {props.lines?.map((each) => <span key={each.text} class="bad"><span aria-hidden="true">╌ </span>{each.text}</span>)}
        <AsTable {...props} />
        <span class="readout">{at >= 0 && readout(props, at)} {behind && <Link href={behind}>its items</Link>}</span>
      </figcaption>
    </figure>
  );
}

/** The point under the pointer; after a drag the one from before. */
function clicked(u: uPlot | undefined, before: number): number {
  const at = u?.cursor.idx;
  return u && u.select.width <= 4 && typeof at === "number" ? at : before;
}

function moved(event: KeyboardEvent, at: number, length: number, move: (to: number) => void, behind: string | undefined): void {
  if (event.key === "Enter" && behind) {
    // The page has a meaning of its own for this key.
    event.stopPropagation();
    goTo(behind);
  }
  const steps: Record<string, number> = {
    ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at < 0 ? length - 1 : at - 1, ArrowDown: at < 0 ? length - 1 : at - 1,
    Home: 0, End: length - 1,
  };
  const to = steps[event.key];
  if (to === undefined) return;
  event.preventDefault();
  move(to);
}

function xText(props: ChartProps, x: number): string {
  return props.timed ? time(x * 1000, zone.value) : value(x);
}

function pointText(series: Series, at: number): string {
  const y = series.values[at];
  if (series.lower || series.n) {
    return interval({ estimate: y, lower: series.lower?.[at], upper: series.upper?.[at], n: series.n?.[at] });
  }
  return y === null || y === undefined ? "no value" : value(y);
}

function readout(props: ChartProps, at: number): string {
  const name = (series: Series) => (props.series.length > 1 ? `${series.label} ` : "");
  const points = props.series.map((series) => `${name(series)}${pointText(series, at)}`);
  return `${xText(props, props.xs[at] ?? 0)}: ${points.join("; ")}`;
}

function dataOf(props: ChartProps): Array<Array<number | null>> {
  const data: Array<Array<number | null>> = [props.xs];
  for (const series of props.series) {
    data.push(series.values);
    if (series.lower && series.upper) data.push(series.upper, series.lower);
  }
  return data;
}

const COLOURS = ["--mark", "--mark2", "--good", "--k-agent", "--warn", "--muted"];

export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function seriesOf(props: ChartProps): uPlot.Series[] {
  const all: uPlot.Series[] = [{}];
  props.series.forEach((series, index) => {
    const stroke = colour(COLOURS[index % COLOURS.length] as string);
    const few = series.values.filter((y) => y !== null).length < 40;
    const drawn: uPlot.Series = { label: series.label, stroke, width: 1.5, spanGaps: false, points: { show: few, size: 5, fill: stroke } };
    if (props.kind === "scatter") Object.assign(drawn, { paths: () => null, points: { show: true, size: 5, fill: stroke } });
    if (props.kind === "bar" && uPlot.paths.bars) {
      Object.assign(drawn, { paths: uPlot.paths.bars({ size: [0.8, 60] }), fill: `${stroke}99`, points: { show: false } });
    }
    all.push(drawn);
    if (series.lower && series.upper) {
      const edge: uPlot.Series = { stroke: `${stroke}55`, width: 1, points: { show: false } };
      all.push({ ...edge }, { ...edge });
    }
  });
  return all;
}

function optionsOf(props: ChartProps, width: number): uPlot.Options {
  const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
  const x: uPlot.Scale = { time: props.timed };
  // One point alone would have an axis without a width.
  const only = props.xs.length === 1 ? (props.xs[0] as number) : undefined;
  const shown = props.xRange ?? (only === undefined ? undefined : [only - 1800, only + 1800]);
  if (shown) x.range = shown as [number, number];
  const options: uPlot.Options = {
    width, height: props.height ?? 150, legend: { show: false }, padding: [8, 18, 0, 0],
    scales: { x, y: scaleOf(props) },
    axes: [{ ...axis, size: 26, space: 76, ...(props.timed ? { values: ticks } : {}) }, { ...axis, size: 44, space: 26, values: (_, ticks) => ticks.map((t) => value(t)) }],
    series: seriesOf(props),
    bands: bands(props.series, COLOURS.map(colour)),
    cursor: { y: false, drag: { x: Boolean(props.onZoom), y: false, setScale: false } },
    plugins: [whiskersPlugin(props.series, COLOURS.map(colour)), marksPlugin(props.lines ?? [], props.marks ?? [], props.openFrom, colour)],
    tzDate: (seconds) => (zone.value === "utc" ? uPlot.tzDate(new Date(seconds * 1000), "UTC") : new Date(seconds * 1000)),
  };
  const zoom = props.onZoom;
  if (zoom) options.hooks = { setSelect: [(u) => u.select.width > 4 && zoom(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"))] };
  return options;
}

/** The time of day; the day where it changes. */
function ticks(_: uPlot, at: number[]): string[] {
  const parts = (seconds: number) => time(seconds * 1000, zone.value).split(" ");
  return at.map((seconds, index) => {
    const clock = parts(seconds).pop() ?? "";
    const day = parts(seconds).slice(0, -1).join(" ");
    const before = index === 0 ? "" : parts(at[index - 1] as number).slice(0, -1).join(" ");
    const short = clock.endsWith(":00") ? clock.slice(0, 5) : clock;
    return short === "00:00" || (day !== before && at.length > 1 && index > 0) ? day : short;
  });
}

function scaleOf(props: ChartProps): uPlot.Scale {
  if (props.log) return { distr: 3 };
  if (props.yRange) return { range: props.yRange };
  return {};
}

function Legend({ names }: { names: string[] }) {
  return (
    <span class="legend">
      {names.map((name, at) => <span key={name}><i style={{ background: `var(${COLOURS[at % COLOURS.length]})` }} />{name}</span>)}
    </span>
  );
}

/** Points that the table shows; a result may have hundreds of thousands. */
const TABLE = 1000;

function AsTable(props: ChartProps) {
  const [open, setOpen] = useState(false);
  return (
    <details class="as-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="muted">as a table</summary>
      {open && (
        <div class="scroll short" tabIndex={0} role="group" aria-label={`${props.name} as a table`}>
          <table>
            <thead><tr><th scope="col">{props.timed ? "time" : "x"}</th>{props.series.map((s) => <th scope="col" key={s.label}>{s.label}</th>)}</tr></thead>
            <tbody>
              {props.xs.slice(0, TABLE).map((x, at) => (
                <tr key={x}><td class="nowrap">{props.hrefAt ? <Link href={props.hrefAt(at)}>{xText(props, x)}</Link> : xText(props, x)}</td>{props.series.map((s) => <td key={s.label}>{pointText(s, at)}</td>)}</tr>
              ))}
            </tbody>
          </table>
          <Cut all={props.xs.length} />
        </div>
      )}
    </details>
  );
}

function Cut({ all }: { all: number }) {
  const text = cutText(all, TABLE, "points");
  return text === "" ? null : <p class="muted">{text}</p>;
}
