// All metrics, the worst upper bound first.
import { useMemo } from "preact/hooks";
import { type Row, rowsOf } from "../lib/api";
import { count, numberOf } from "../lib/format";
import { useAsk } from "../lib/hooks";
import { fixed } from "../lib/range";
import { bind } from "../lib/statement";
import { hrefOf, span } from "../lib/store";
import { line } from "../lib/text";
import { Empty, Panel } from "../ui/panel";
import { Interval, Link, Whisker } from "../ui/parts";
import { Top } from "../ui/shell";
import C25 from "../../sql/C25.sql";

export function MetricList() {
  const { from, to } = fixed(span.value);
  const bound = useMemo(() => bind(C25, { from, to }), [from, to]);
  const asked = useAsk(bound);
  return (
    <>
      <Top title="Scores" />
      <main id="main" tabIndex={-1}>
        <Panel title="Metrics" sub="the worst upper bound first" asked={asked} bound={bound} flush>
          {(table) => <List rows={rowsOf(table)} />}
        </Panel>
      </main>
    </>
  );
}

function List({ rows }: { rows: Row[] }) {
  if (rows.length === 0) {
    return (
      <Empty title="No score in this time range">
        <p>A longer range may have some; <Link href={hrefOf("sampling")}>Sampling</Link> says what was decided about the traces.</p>
      </Empty>
    );
  }
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Metrics">
      <table class="quality">
        <thead><tr>
          <th scope="col">Metric</th><th scope="col">Evaluator</th><th scope="col">Share that passes, 95 % interval</th>
          <th scope="col">Mean value</th><th scope="col" class="num">Errors</th><th scope="col" class="num">Skipped</th>
        </tr></thead>
        <tbody>{rows.map((row, at) => <OneMetric key={at} row={row} />)}</tbody>
      </table>
    </div>
  );
}

function OneMetric({ row }: { row: Row }) {
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
      <td>{judged === 0 ? <span class="muted">–</span> : <Link class="plain" href={href({ trend: "mean" })}><Interval {...mean} /></Link>}</td>
      <td class="num">{errors > 0 ? <Link class="bad" href={href({ show: "errors" })}>! {count(errors)}</Link> : "0"}</td>
      <td class="num muted">{numberOf(row.skipped) ? <Link class="plain" href={href({ show: "skipped" })}>{count(numberOf(row.skipped))}</Link> : "0"}</td>
    </tr>
  );
}
