// Page 8: which traces are judged, which are not and why.
import { useMemo } from "preact/hooks";
import { type Row, type Table, rowsOf } from "../lib/api";
import { millis, numberOf } from "../lib/format";
import { useAsk } from "../lib/hooks";
import { fixed, stateOf, stepOf } from "../lib/range";
import { bind } from "../lib/statement";
import { hrefOf, span } from "../lib/store";
import { useWalk } from "../lib/walk";
import { Chart } from "../ui/chart";
import { Empty, Panel } from "../ui/panel";
import { Top } from "../ui/shell";
import { decidedIn, flowsOf } from "../lib/flow";
import { DryRun } from "./sampling-dry-run";
import { Flows } from "./sampling-flows";
import { Lag, Traffic } from "./sampling-tables";
import C15 from "../../sql/C15.sql";
import C16 from "../../sql/C16.sql";
import C17 from "../../sql/C17.sql";
import C26 from "../../sql/C26.sql";

export default function Sampling() {
  const { from, to } = fixed(span.value);
  const step = stepOf(span.value, 120);
  const decisions = useMemo(() => bind(C15, { from, to }), [from, to]);
  const coverage = useMemo(() => bind(C16, { from, to, step: step.sql }), [from, to, step.sql]);
  const lag = useMemo(() => bind(C17, { from, to }), [from, to]);
  const traffic = useMemo(() => bind(C26, { from, to }), [from, to]);
  const [decided, covered, lagged, judged] = [useAsk(decisions), useAsk(coverage), useAsk(lag), useAsk(traffic)];
  useWalk();
  return (
    <>
      <Top title="Sampling and coverage" />
      <main id="main" tabIndex={-1}>
        <Panel title="What became of each trace, by rule" sub="counts of decisions, not estimates" asked={decided} bound={decisions}>
          {(table) => (table.rows === 0 ? <NoRule /> : <Flows flows={flowsOf(rowsOf(table))} />)}
        </Panel>
        <div class="two">
          <Panel title="Coverage over time" sub={`taken, scored and lost items, ${step.sql} a bucket, by the time of the decision`} asked={covered} bound={coverage}>
            {(table) => <Coverage table={table} step={step.ms} />}
          </Panel>
          <Panel title="Lag from span to score" sub="by evaluator, the slowest first" asked={lagged} bound={lag} flush>
            {(table) => <Lag rows={rowsOf(table)} />}
          </Panel>
        </div>
        <Panel title="Which traffic is judged" sub="services and models, the least judged first" asked={judged} bound={traffic} flush>
          {(table) => <Traffic rows={rowsOf(table)} />}
        </Panel>
        <DryRun from={from} to={to} />
      </main>
    </>
  );
}

function Coverage({ table, step }: { table: Table; step: number }) {
  const { xs, series, rows } = useMemo(() => {
    const rows = rowsOf(table);
    const column = (name: string) => rows.map((row: Row) => numberOf(row[name]));
    return {
      rows,
      xs: rows.map((row) => millis(String(row.bucket)) / 1000),
      series: [
        { label: "taken", values: column("queued") }, { label: "scored", values: column("scored") }, { label: "lost", values: column("lost") },
      ],
    };
  }, [table]);
  if (xs.length === 0) return <p class="empty">No decision in this time range.</p>;
  const hrefAt = (at: number) => {
    const { where, ...times } = decidedIn((xs[at] ?? 0) * 1000, step, millis(String(rows[at]?.first)));
    return hrefOf("explore", "", { where, ...stateOf(fixed(times)) });
  };
  return (
    <Chart name="Items taken, scored and lost" xs={xs} timed series={series} height={170}
      xRange={[span.value.from / 1000, span.value.to / 1000]} hrefAt={hrefAt} />
  );
}

const RULE = `[[sample.rules]]
name = "default"
filter = "operation IN ('llm', 'agent')"
rate = 0.1
`;

function NoRule() {
  return (
    <Empty title="No decision in this time range">
      <p>Decisions are made by rules. The default one takes whole traces with a call of a model:</p>
      <pre class="code">{RULE}</pre>
    </Empty>
  );
}
