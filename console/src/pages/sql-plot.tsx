// A result as a plot. Columns named lower, upper and n draw the band and the counts by themselves.
import { useMemo } from "preact/hooks";
import type { Table } from "../lib/api";
import { type PlotChoice, type PlotKind, guess, numeric, plotOf } from "../lib/plot";
import { address, setState } from "../lib/store";
import { line, visible } from "../lib/text";
import { Chart } from "../ui/chart";

const KINDS: readonly PlotKind[] = ["line", "bar", "scatter", "histogram"];

export function Plot({ table }: { table: Table }) {
  const { x, y, series, kind } = address.value.state;
  const choice = useMemo<PlotChoice>(() => {
    const first = guess(table);
    const has = (name: string | undefined) => name !== undefined && table.columns.some((column) => column.name === name);
    return {
      x: has(x) ? (x as string) : first.x,
      y: has(y) ? (y as string) : first.y,
      series: series === "-" ? "" : has(series) ? (series as string) : first.series,
      kind: KINDS.includes(kind as PlotKind) ? (kind as PlotKind) : first.kind,
    };
  }, [table, x, y, series, kind]);
  const plot = useMemo(() => plotOf(table, choice), [table, choice]);
  const names = table.columns.map((column) => column.name);
  return (
    <div class="body stack">
      <div class="row">
        <Pick label="Kind" value={choice.kind} options={[...KINDS]} set={(next) => setState({ kind: next }, true)} />
        {choice.kind !== "histogram" && <Pick label="x" value={choice.x} options={names} set={(next) => setState({ x: next }, true)} />}
        <Pick label="y" value={choice.y} options={numeric(table)} set={(next) => setState({ y: next }, true)} />
        {choice.kind !== "histogram" && (
          <Pick label="Series" value={choice.series || "-"} options={["-", ...names]} set={(next) => setState({ series: next }, true)} />
        )}
      </div>
      {plot.left && <p class="muted small" role="note">{plot.left}</p>}
      {plot.why ? <p class="muted">{plot.why}</p> : (
        <Chart name={line(`${choice.y} by ${choice.x}`, 160)} xs={plot.xs} timed={plot.timed} series={plot.series} height={320}
          kind={choice.kind === "histogram" ? "bar" : choice.kind} />
      )}
    </div>
  );
}

function Pick({ label, value, options, set }: { label: string; value: string; options: string[]; set: (next: string) => void }) {
  return (
    <label>{label}
      <select value={value} onChange={(event) => set(event.currentTarget.value)}>
        {options.map((option) => <option key={option} value={option}>{visible(option)}</option>)}
      </select>
    </label>
  );
}
