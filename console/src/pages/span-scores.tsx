// The scores of one span, what failed first, with their sentences.
import { type Row, rowsOf } from "../lib/api";
import { numberOf, value } from "../lib/format";
import { useAsk } from "../lib/hooks";
import { bind } from "../lib/statement";
import { hrefOf } from "../lib/store";
import { worstFirst } from "../lib/worst";
import { Panel } from "../ui/panel";
import { Hostile, Link, VerdictChip, verdictOf } from "../ui/parts";
import C5 from "../../sql/C5.sql";

export function SpanScores({ trace, span }: { trace: string; span: string }) {
  const bound = bind(C5, { id: trace });
  const asked = useAsk(bound);
  return (
    <Panel title="Scores" asked={asked} bound={bound}>
      {(table) => <ScoreList rows={worstFirst(rowsOf(table)).filter((row) => row.span_id === span)} />}
    </Panel>
  );
}

const ORDER = { fail: 0, error: 1, none: 2, pass: 3, skipped: 4 };

export function ScoreList({ rows }: { rows: Row[] }) {
  if (rows.length === 0) return <p class="muted">No evaluator judged this span.</p>;
  const sorted = [...rows].sort((a, b) => ORDER[verdictOf(a.status, a.passed)] - ORDER[verdictOf(b.status, b.passed)]);
  const judged = sorted.filter((row) => row.status !== "skipped");
  const skipped = sorted.filter((row) => row.status === "skipped");
  return (
    <div class="scores">
      {judged.map((row, at) => <OneScore key={at} row={row} />)}
      {skipped.length > 0 && (
        <details><summary class="small">{skipped.length} skipped: an input was missing</summary>
          {skipped.map((row, at) => <OneScore key={at} row={row} />)}
        </details>
      )}
    </div>
  );
}

function OneScore({ row }: { row: Row }) {
  const verdict = verdictOf(row.status, row.passed);
  const [number, threshold, probability] = [numberOf(row.value), numberOf(row.threshold), numberOf(row.inclusion_probability)];
  return (
    <div class="score">
      <div class="row">
        <VerdictChip verdict={verdict} />
        <Link href={hrefOf("scores", String(row.metric), { evaluator: String(row.evaluator) })}><Hostile text={String(row.metric)} /></Link>
        {row.status !== "skipped" && <strong class="num">{number === null ? <Hostile text={String(row.label ?? "–")} /> : value(number)}</strong>}
        <span class="muted small">{threshold !== null && `threshold ${value(threshold)}, `}n 1{probability !== null && probability < 1 ? `, π ${value(probability)}` : ""}</span>
      </div>
      {row.rationale !== null && <p class="small text"><Hostile text={String(row.rationale)} most={1200} /></p>}
      {row.error !== null && (
        <p class="small muted">{row.status === "skipped" ? "lacks " : ""}<Hostile text={String(row.error)} most={800} /></p>
      )}
    </div>
  );
}
