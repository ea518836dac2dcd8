// The sentence that the scores of a trace point at.
import type { Row } from "../lib/api";
import { type Evidence, evidenceOf } from "../lib/evidence";

/** The sentence that an evaluator points at in this span, of what failed first. */
export function evidenceIn(scores: Row[], span?: string): Evidence | undefined {
  const own = scores.filter((row) => row.status === "ok" && (span === undefined || row.span_id === span));
  for (const failed of [true, false]) {
    for (const row of own) {
      const found = (row.passed === false) === failed ? evidenceOf(row.rationale) : undefined;
      if (found) return found;
    }
  }
  return undefined;
}
