// Small multiples: one metric a chart, with its interval, and marks where versions or alerts changed.
import { useMemo } from "preact/hooks";
import { type Row, type Table, rowsOf } from "../lib/api";
import { millis, numberOf, value } from "../lib/format";
import type { Asked } from "../lib/hooks";
import { marksOf } from "../lib/marks";
import { objectivesOf } from "../lib/objectives";
import { bucketOf, fixed } from "../lib/range";
import { server } from "../lib/server";
import { hrefOf, setRange, span } from "../lib/store";
import { line, visible } from "../lib/text";
import { Chart } from "../ui/chart";
import { Empty } from "../ui/panel";
import { Interval, Link, Time } from "../ui/parts";
import { Missing } from "./quality-choose";

interface MultiplesProps {
  table: Table;
  changes: Table | undefined;
  /** Where the buckets begin that are not final, milliseconds since 1970. */
  openFrom: number | undefined;
  step: number;
  there: Row | undefined;
  asked: Asked<unknown>;
  /** The metrics that were chosen; none are the worst six. */
  chosen: string[];
  /** The metrics of the table below. */
  names: string[];
  /** Another choice or range is being asked. */
  busy: boolean;
}

interface OneSeries {
  evaluator: string;
  metric: string;
  rows: Row[];
}

function seriesOf(table: Table): OneSeries[] {
  const all = new Map<string, OneSeries>();
  for (const row of rowsOf(table)) {
    const key = JSON.stringify([row.evaluator, row.metric]);
    const one = all.get(key) ?? { evaluator: String(row.evaluator), metric: String(row.metric), rows: [] };
    one.rows.push(row);
    all.set(key, one);
  }
  return [...all.values()];
}

export function Multiples({ table, changes, openFrom, step, there, chosen, names, busy }: MultiplesProps) {
  const all = useMemo(() => seriesOf(table), [table]);
  const missing = chosen.filter((name) => !all.some((one) => one.metric === name));
  if (all.length === 0 && missing.length === 0) return <NoScores there={there} />;
  return (
    <div class="multiples">
      {all.map((one) => <OneChart key={one.evaluator + one.metric} one={one} changes={changes} openFrom={openFrom} step={step} />)}
      {missing.map((name) => <Missing key={name} metric={name} chosen={chosen} names={names} busy={busy} />)}
    </div>
  );
}

function OneChart({ one, changes, openFrom, step }: { one: OneSeries; changes: Table | undefined; openFrom: number | undefined; step: number }) {
  const { xs, series } = useMemo(() => {
    const column = (name: string) => one.rows.map((row) => numberOf(row[name]));
    return {
      xs: one.rows.map((row) => millis(String(row.bucket)) / 1000),
      series: [{ label: "share that passes", values: column("estimate"), lower: column("lower"), upper: column("upper"), n: column("n") }],
    };
  }, [one]);
  const marks = useMemo(() => marksOf(changes ? rowsOf(changes) : [], one.evaluator, one.metric), [changes, one]);
  const lines = useMemo(() => objectivesOf(server.value?.configuration?.alerts, one.metric), [server.value, one]);
  const first = one.rows[0];
  const open = openFrom === undefined ? undefined : openFrom / 1000;
  return (
    <section aria-label={visible(one.metric)}>
      <div class="row">
        <h3><Link href={hrefOf("scores", one.metric, { evaluator: one.evaluator })}>{line(one.metric, 40)}</Link></h3>
        <span class="small muted">{passesAt(first)}</span>
        <Link class="plain small" href={hrefOf("scores", one.metric, { evaluator: one.evaluator })}><Interval estimate={numberOf(first?.all_estimate)} lower={numberOf(first?.all_lower)} upper={numberOf(first?.all_upper)} n={numberOf(first?.all_n)} /></Link>
      </div>
      <Chart name={`Share that passes ${visible(one.metric)}`} xs={xs} timed series={series} yRange={[0, 1]} marks={marks} lines={lines}
        hrefAt={(at) => hrefOf("scores", one.metric, { evaluator: one.evaluator, ...bucketOf(xs[at] ?? 0, step) })}
        openFrom={open} height={140} xRange={[span.value.from / 1000, span.value.to / 1000]}
        onZoom={(from, to) => setRange(fixed({ from: from * 1000 - step / 2, to: to * 1000 + step / 2 }))} />
    </section>
  );
}

/** When an item passes; nothing for metrics that have no threshold. */
function passesAt(row: Row | undefined): string {
  const threshold = numberOf(row?.threshold);
  return threshold === null ? "" : `an item passes at ${(numberOf(row?.agree) ?? 1) >= 0 ? "≥" : "≤"} ${value(threshold)}`;
}

/** Spans but no scores in the range: what to look at. */
function NoScores({ there }: { there: Row | undefined }) {
  const scores = numberOf(there?.scores) ?? 0;
  const newest = there?.newest;
  if (scores > 0) {
    return (
      <Empty title="No score in this time range">
        {typeof newest === "string" && <p>The newest span began <Time at={newest} />.{" "}
          <button type="button" onClick={() => setRange({ relative: `${daysSince(newest)}d`, from: "", to: "" })}>Show the last {daysSince(newest)} days</button></p>}
      </Empty>
    );
  }
  return (
    <Empty title="Spans have arrived, but none was scored">
      <p>Which rule took them and what it decided stands on <Link href={hrefOf("sampling")}>Sampling</Link>.</p>
    </Empty>
  );
}

function daysSince(at: string): number {
  return Math.max(1, Math.ceil((Date.now() - millis(at)) / 86_400_000) + 1);
}
