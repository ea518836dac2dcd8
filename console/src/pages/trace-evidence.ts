// The sentence that the scores of a trace point at.
import type { Row } from "../lib/api";
import { type Evidence, evidenceOf } from "../lib/evidence";

/** The sentence that an evaluator points at in this span, or in all; only of what failed. */
export function evidenceIn(scores: Row[], span?: string): Evidence | undefined {
  for (const row of scores) {
    if (row.passed !== false || row.status !== "ok" || (span !== undefined && row.span_id !== span)) continue;
    const found = evidenceOf(row.rationale);
    if (found) return found;
  }
  return undefined;
}
