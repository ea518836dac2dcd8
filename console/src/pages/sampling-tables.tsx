// Lag by evaluator, and which traffic is judged.
import type { Row } from "../lib/api";
import { condition } from "../lib/filter";
import { count, numberOf, seconds } from "../lib/format";
import { fixed } from "../lib/range";
import { scoreQuery } from "../lib/score-query";
import { hrefOf, span } from "../lib/store";
import { line } from "../lib/text";
import { Link, Meter } from "../ui/parts";

export function Lag({ rows }: { rows: Row[] }) {
  if (rows.length === 0) return <p class="empty">No score was made in this time range.</p>;
  return (
    <div class="scroll short" tabIndex={0} role="group" aria-label="Lag">
      <table>
        <thead><tr><th scope="col">Evaluator</th><th scope="col" class="num">Half within</th><th scope="col" class="num">99 % within</th><th scope="col" class="num">n</th></tr></thead>
        <tbody>{rows.map((row, at) => <OneLag key={at} row={row} />)}</tbody>
      </table>
    </div>
  );
}

/** As C17 counts it, in seconds. */
const LAG = "CAST(CAST(evaluated_at AS BIGINT) - CAST(span_time AS BIGINT) AS DOUBLE) / 1e6";

/** Its numbers lead to a query over its scores, the latest after their spans first. */
function OneLag({ row }: { row: Row }) {
  const { from, to } = fixed(span.value);
  const scored = { evaluator: String(row.evaluator), version: row.evaluator_version === null ? null : String(row.evaluator_version), from, to };
  const href = (least: number | null) => hrefOf("sql", "", { q: scoreQuery(scored, `span_time, ${LAG} AS lag_s`, ["source = 'rule'", ...(least === null ? [] : [`${LAG} >= ${least}`])], "lag_s") });
  const late = (least: number | null) => (least === null ? "–" : <Link class="plain" title="What came later" href={href(least)}>{seconds(least)}</Link>);
  return (
    <tr>
      <td title={line(String(row.evaluator_version), 100)}>{line(String(row.evaluator), 50)}</td>
      <td class="num">{late(numberOf(row.lag_p50_s))}</td><td class="num">{late(numberOf(row.lag_p99_s))}</td>
      <td class="num"><Link class="plain" href={href(null)}>{count(numberOf(row.n))}</Link></td>
    </tr>
  );
}

export function Traffic({ rows }: { rows: Row[] }) {
  if (rows.length === 0) return <p class="empty">No call of a model in this time range.</p>;
  const never = rows.filter((row) => (numberOf(row.judged) ?? 0) === 0).length;
  return (
    <>
      <p class="under small">{never === 0 ? <span class="good">✓ every service and model has judged traces</span> : <span class="bad">! {never} {never === 1 ? "has" : "have"} never been judged</span>}</p>
      <div class="scroll short" tabIndex={0} role="group" aria-label="Traffic" data-walk>
        <table>
          <thead><tr><th scope="col">Service</th><th scope="col">Model</th><th scope="col" class="num">Traces</th><th scope="col" class="num">Judged</th><th scope="col">Share</th></tr></thead>
          <tbody>{rows.map((row, at) => <OneTraffic key={at} row={row} />)}</tbody>
        </table>
      </div>
    </>
  );
}

function OneTraffic({ row }: { row: Row }) {
  const [traces, judged] = [numberOf(row.traces) ?? 0, numberOf(row.judged) ?? 0];
  const name = (cell: unknown) => (cell === null ? <span class="muted">none</span> : line(String(cell), 60));
  const where = [
    condition("service_name", row.service_name === null ? null : String(row.service_name), true),
    condition("request_model", row.request_model === null ? null : String(row.request_model), true),
  ].join(" AND ");
  return (
    <tr>
      <td><Link href={hrefOf("explore", "", { where })}>{name(row.service_name)}</Link></td>
      <td>{name(row.request_model)}</td>
      <td class="num"><Link class="plain" href={hrefOf("explore", "", { where })}>{count(traces)}</Link></td>
      <td class="num">{judged === 0 ? <span class="bad">! never</span>
        : <Link class="plain" href={hrefOf("explore", "", { where: `${where} AND trace_id IN (SELECT trace_id FROM decisions WHERE decision = 'scored')` })}>{count(judged)}</Link>}</td>
      <td><span class="named"><span class="share"><Meter share={traces === 0 ? 0 : judged / traces} /></span>{Math.round((judged / (traces || 1)) * 1000) / 10} % of n {count(traces)}</span></td>
    </tr>
  );
}
