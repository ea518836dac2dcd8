// The metric over time, with its interval; dragging chooses a range. As a share that passes it stands against what alerts
// want, as a mean value against the threshold of an item.
import { useMemo } from "preact/hooks";
import { type Row, type Table, rowsOf } from "../lib/api";
import { millis, numberOf, value } from "../lib/format";
import { useAsk } from "../lib/hooks";
import { objectivesOf } from "../lib/objectives";
import { bucketOf, fixed, stepOf } from "../lib/range";
import { server } from "../lib/server";
import { address, hrefOf, setRange, setState, span } from "../lib/store";
import { visible } from "../lib/text";
import { Chart } from "../ui/chart";
import { Panel } from "../ui/panel";
import { marksOf } from "../lib/marks";
import { type Scope, bindIn, isUp } from "./scores-metric";
import C1 from "../../sql/C1.sql";

export function Trend({ scope, row }: { scope: Scope; row: Row }) {
  const step = stepOf(span.value, 150);
  const bound = useMemo(() => bindIn(scope, C1, { step: step.sql }), [scope, step.sql]);
  const asked = useAsk(bound);
  const mean = address.value.state.trend === "mean";
  const tools = (
    <>
      <button type="button" class="quiet" aria-pressed={!mean} onClick={() => setState({ trend: "" }, true)}>Share that passes</button>
      <button type="button" class="quiet" aria-pressed={mean} onClick={() => setState({ trend: "mean" }, true)}>Mean value</button>
    </>
  );
  return (
    <Panel title="Over time" asked={asked} bound={bound} tools={tools} sub={`${step.sql} a bucket; drag to zoom`}>
      {(table) => <Curve table={table} scope={scope} row={row} step={step.ms} mean={mean} />}
    </Panel>
  );
}

interface CurveProps {
  table: Table;
  scope: Scope;
  row: Row;
  step: number;
  mean: boolean;
}

function Curve({ table, scope, row, step, mean }: CurveProps) {
  const rows = useMemo(() => rowsOf(table), [table]);
  const { xs, series } = useMemo(() => curveOf(rows, mean), [rows, mean]);
  const marks = useMemo(() => marksOf(rows, scope.evaluator, scope.metric), [rows, scope]);
  const lines = useMemo(() => {
    const [threshold, sign] = [numberOf(row.threshold), isUp(row) ? "≥" : "≤"];
    if (!mean) return objectivesOf(server.value?.configuration?.alerts, scope.metric);
    return threshold === null ? [] : [{ y: threshold, text: `an item passes at ${sign} ${value(threshold)}`, short: `${sign} ${value(threshold)}` }];
  }, [server.value, row, mean, scope]);
  if (xs.length === 0) return <p class="empty">No {mean ? "value" : "verdict"} in this time range.</p>;
  // The interval of a few items may be far wider than all values: what is beyond the scale is cut.
  const known = [...series[0]?.values ?? [], ...lines.map((each) => each.y)].filter((y): y is number => y !== null);
  return (
    <Chart name={`${mean ? "Mean value of" : "Share that passes"} ${visible(scope.metric)}`} xs={xs} timed series={series} height={150}
      yRange={[Math.min(0, ...known), Math.max(1, ...known)]} marks={marks} lines={lines} xRange={[span.value.from / 1000, span.value.to / 1000]}
      hrefAt={(at) => hrefOf("scores", scope.metric, { ...address.value.state, ...bucketOf(xs[at] ?? 0, step) })}
      onZoom={(from, to) => setRange(fixed({ from: from * 1000 - step / 2, to: to * 1000 + step / 2 }))} />
  );
}

function curveOf(rows: Row[], mean: boolean) {
  const [y, lower, upper, n] = mean ? ["mean", "mean_lower", "mean_upper", "mean_n"] : ["estimate", "lower", "upper", "n"];
  const buckets = rows.filter((row) => row.kind === "bucket" && (numberOf(row[n as string]) ?? 0) > 0);
  const column = (key: string) => buckets.map((row) => numberOf(row[key]));
  return {
    xs: buckets.map((row) => millis(String(row.at)) / 1000),
    series: [{
      label: mean ? "mean value" : "share that passes", values: column(y as string), lower: column(lower as string),
      upper: column(upper as string), n: column(n as string),
    }],
  };
}
