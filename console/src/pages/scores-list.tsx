// All metrics, the worst upper bound first.
import { useEffect, useMemo, useState } from "preact/hooks";
import { type Row, rowsOf } from "../lib/api";
import { count, numberOf } from "../lib/format";
import { useAsk } from "../lib/hooks";
import { rowsIn } from "../lib/quality";
import { fixed, stepOf } from "../lib/range";
import { type Point, keyOf, sparksOf } from "../lib/spark";
import { bind } from "../lib/statement";
import { address, hrefOf, setState, span } from "../lib/store";
import { line, visible } from "../lib/text";
import { useWalk } from "../lib/walk";
import { Empty, Panel } from "../ui/panel";
import { Interval, Link, Whisker } from "../ui/parts";
import { Top } from "../ui/shell";
import { Sparkline } from "../ui/sparkline";
import C25 from "../../sql/C25.sql";
import C41 from "../../sql/C41.sql";

/** What a row is known by. */
const ROW = ["evaluator", "metric"];

export function MetricList() {
  const { from, to } = fixed(span.value);
  const bound = useMemo(() => bind(C25, { from, to }), [from, to]);
  const asked = useAsk(bound);
  const step = stepOf(span.value, 24);
  const curves = useMemo(() => bind(C41, { from, to, step: step.sql }), [from, to, step.sql]);
  // Asked when the list is there, which does not wait for it.
  const drawn = useAsk(asked.data ? curves : null);
  const sparks = useMemo(() => sparksOf(drawn.data, ROW), [drawn.data]);
  useWalk();
  return (
    <>
      <Top title="Scores" />
      <main id="main" tabIndex={-1}>
        <Panel title="Metrics" sub={`the worst upper bound first; the curves have one scale, from 0 to 1, and ${step.sql} a bucket`} asked={asked} bound={[bound, curves]} flush>
          {(table) => (
            <>
              {drawn.fault && <p class="under bad small">No curves: {visible(drawn.fault.message.slice(0, 200))}</p>}
              <List rows={rowsOf(table)} sparks={sparks} step={step.ms} />
            </>
          )}
        </Panel>
      </main>
    </>
  );
}

interface ListProps {
  rows: Row[];
  sparks: Map<string, Point[]>;
  /** The width of a bucket of the curves, milliseconds. */
  step: number;
}

function List({ rows, sparks, step }: ListProps) {
  const { find = "" } = address.value.state;
  // What is typed is looked for at once; the address has it when the field is left.
  const [text, setText] = useState(find);
  useEffect(() => setText(find), [find]);
  const shown = useMemo(() => rowsIn(rows, text, ""), [rows, text]);
  if (rows.length === 0) {
    return (
      <Empty title="No score in this time range">
        <p>A longer range may have some; <Link href={hrefOf("sampling")}>Sampling</Link> says what was decided about the traces.</p>
      </Empty>
    );
  }
  return (
    <>
      <div class="row padded-line">
        <input type="search" data-filter aria-label="Metrics that contain" size={26} placeholder="metric or evaluator (key /)" value={text}
          onInput={(event) => setText(event.currentTarget.value)} onChange={(event) => setState({ find: event.currentTarget.value.trim() }, true)} />
        <span class="muted small">{shown.length} of {rows.length}{rows.length >= 500 ? " (the first 500)" : ""}</span>
      </div>
      <div class="scroll" tabIndex={0} role="group" aria-label="Metrics" data-walk>
        <table class="quality">
          <thead><tr>
            <th scope="col">Metric</th><th scope="col">Evaluator</th><th scope="col">Share that passes, 95 % interval</th><th scope="col">Over time</th>
            <th scope="col">Mean value</th><th scope="col" class="num">Errors</th><th scope="col" class="num">Skipped</th>
          </tr></thead>
          <tbody>{shown.map((row) => <OneMetric key={keyOf(row, ROW)} row={row} points={sparks.get(keyOf(row, ROW))} step={step} />)}</tbody>
        </table>
      </div>
    </>
  );
}

function OneMetric({ row, points, step }: { row: Row; points: Point[] | undefined; step: number }) {
  const judged = numberOf(row.judged) ?? 0;
  const estimate = { estimate: numberOf(row.estimate), lower: numberOf(row.lower), upper: numberOf(row.upper), n: numberOf(row.n) };
  const mean = { estimate: numberOf(row.mean), lower: numberOf(row.mean_lower), upper: numberOf(row.mean_upper), n: numberOf(row.mean_n) };
  const errors = numberOf(row.errors) ?? 0;
  const href = (more: Record<string, string> = {}) => hrefOf("scores", String(row.metric), { evaluator: String(row.evaluator), ...more });
  return (
    <tr>
      <td><Link href={href()}>{line(String(row.metric), 60)}</Link></td>
      <td class="muted">{line(String(row.evaluator), 60)}</td>
      <td>{judged === 0 ? <span class="muted">all skipped</span> : !estimate.n ? <span class="muted">values only, no verdict</span>
        : <span class="named"><span class="whisker-cell"><Whisker {...estimate} /></span><Link class="plain" href={href()}><Interval {...estimate} /></Link></span>}</td>
      <td><Sparkline points={points} span={span.value} step={step} name={line(String(row.metric), 60)} /></td>
      <td>{judged === 0 ? <span class="muted">–</span> : <Link class="plain" href={href({ trend: "mean" })}><Interval {...mean} /></Link>}</td>
      <td class="num">{errors > 0 ? <Link class="bad" href={href({ show: "errors" })}>! {count(errors)}</Link> : "0"}</td>
      <td class="num muted">{numberOf(row.skipped) ? <Link class="plain" href={href({ show: "skipped" })}>{count(numberOf(row.skipped))}</Link> : "0"}</td>
    </tr>
  );
}
