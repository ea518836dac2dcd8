// The metric over time, with its interval; dragging chooses a range. As a share that passes it stands against what alerts
// want, as a mean value against the threshold of an item.
import { useMemo } from "preact/hooks";
import { type Row, type Table, rowsOf } from "../lib/api";
import { millis, numberOf, value } from "../lib/format";
import { type Asked, useAsk } from "../lib/hooks";
import { objectivesOf } from "../lib/objectives";
import { bucketOf, fixed } from "../lib/range";
import { server } from "../lib/server";
import { type Bound, bind } from "../lib/statement";
import { address, hrefOf, setRange, setState, span } from "../lib/store";
import { visible } from "../lib/text";
import { Chart } from "../ui/chart";
import { Panel } from "../ui/panel";
import { marksOf } from "../lib/marks";
import { type Scope, isUp } from "./scores-metric";
import C3 from "../../sql/C3.sql";

interface TrendProps {
  scope: Scope;
  /** The metric as a whole, and all rows of the same answer: with a bucket, what it was then. */
  row: Row;
  rows: Row[];
  asked: Asked<unknown>;
  bound: Bound;
  step: { sql: string; ms: number };
}

export function Trend({ scope, row, rows, asked, bound, step }: TrendProps) {
  const changed = useMemo(() => bind(C3, { from: scope.from, to: scope.to }), [scope.from, scope.to]);
  const changes = useAsk(changed);
  const mean = address.value.state.trend === "mean";
  const tools = (
    <>
      <button type="button" class="quiet" aria-pressed={!mean} onClick={() => setState({ trend: "" }, true)}>Share that passes</button>
      <button type="button" class="quiet" aria-pressed={mean} onClick={() => setState({ trend: "mean" }, true)}>Mean value</button>
    </>
  );
  return (
    <Panel title="Over time" asked={{ ...asked, fault: undefined }} bound={[bound, changed]} tools={tools} sub={`${step.sql} a bucket; drag to zoom`}>
      {() => <Curve rows={rows} changes={changes.data} scope={scope} row={row} step={step.ms} mean={mean} />}
    </Panel>
  );
}

interface CurveProps {
  rows: Row[];
  changes: Table | undefined;
  scope: Scope;
  row: Row;
  step: number;
  mean: boolean;
}

function Curve({ rows, changes, scope, row, step, mean }: CurveProps) {
  const { xs, series } = useMemo(() => curveOf(rows, mean), [rows, mean]);
  const marks = useMemo(() => marksOf(changes ? rowsOf(changes) : [], scope.evaluator, scope.metric), [changes, scope]);
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
  const buckets = rows.filter((row) => row.part === "bucket" && (numberOf(row[n as string]) ?? 0) > 0);
  const column = (key: string) => buckets.map((row) => numberOf(row[key]));
  return {
    xs: buckets.map((row) => millis(String(row.bucket)) / 1000),
    series: [{
      label: mean ? "mean value" : "share that passes", values: column(y as string), lower: column(lower as string),
      upper: column(upper as string), n: column(n as string),
    }],
  };
}
