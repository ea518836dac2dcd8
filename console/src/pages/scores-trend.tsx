// The metric over time, with its interval; dragging chooses a range.
import { useMemo } from "preact/hooks";
import { type Table, rowsOf } from "../lib/api";
import { millis, numberOf } from "../lib/format";
import { useAsk } from "../lib/hooks";
import { fixed, stepOf } from "../lib/range";
import { setRange, span } from "../lib/store";
import { visible } from "../lib/text";
import { Chart } from "../ui/chart";
import { Panel } from "../ui/panel";
import { type Scope, bindIn } from "./scores-metric";
import C1 from "../../sql/C1.sql";

export function Trend({ scope }: { scope: Scope }) {
  const step = stepOf(span.value, 150);
  const bound = useMemo(() => bindIn(scope, C1, { step: step.sql }), [scope, step.sql]);
  const asked = useAsk(bound);
  return (
    <Panel title="Over time" asked={asked} bound={bound} sub={`share that passes, ${step.sql} a bucket; drag to zoom`}>
      {(table) => <Line table={table} name={scope.metric} step={step.ms} />}
    </Panel>
  );
}

function Line({ table, name, step }: { table: Table; name: string; step: number }) {
  const { xs, series } = useMemo(() => {
    const rows = rowsOf(table);
    const column = (key: string) => rows.map((row) => numberOf(row[key]));
    return {
      xs: rows.map((row) => millis(String(row.bucket)) / 1000),
      series: [{ label: "share that passes", values: column("estimate"), lower: column("lower"), upper: column("upper"), n: column("n") }],
    };
  }, [table]);
  if (xs.length === 0) return <p class="empty">No verdict in this time range.</p>;
  return (
    <Chart name={`Share that passes ${visible(name)}`} xs={xs} timed series={series} yRange={[0, 1]} height={150}
      xRange={[span.value.from / 1000, span.value.to / 1000]}
      onZoom={(from, to) => setRange(fixed({ from: from * 1000 - step / 2, to: to * 1000 + step / 2 }))} />
  );
}
