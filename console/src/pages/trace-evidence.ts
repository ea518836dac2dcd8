// The sentences that the scores of a trace point at.
import type { Row } from "../lib/api";
import { type Evidence, evidenceOf } from "../lib/evidence";
import { judgedOf } from "../lib/judged";

/** What failed in this span, or in all, as far as an evaluator says which sentences; places before words. */
export function evidenceIn(scores: readonly Row[], spans: readonly Row[], span?: string): Evidence | undefined {
  const failed = scores.filter((row) => row.passed === false && row.status === "ok" && (span === undefined || row.span_id === span));
  let words: Evidence | undefined;
  for (const row of failed) {
    const found = evidenceOf(row, row.evidence ? judgedOf(spans, String(row.span_id)) : undefined);
    if (found && found.claims.text !== "") return found;
    words ??= found;
  }
  return words;
}
