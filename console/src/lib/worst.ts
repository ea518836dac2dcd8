// Which of several scores of a span is looked at first.
import type { Row } from "./api";
import { numberOf } from "./format";

/** How far a verdict that failed missed its threshold, as a share of the larger of both: metrics have scales of their own. Below 0: it did not fail. */
function missed(row: Row): number {
  if (row.status !== "ok" || row.passed !== false) return -1;
  const [value, threshold] = [numberOf(row.value), numberOf(row.threshold)];
  if (value === null || threshold === null) return 0;
  return Math.abs(value - threshold) / (Math.max(Math.abs(value), Math.abs(threshold)) || 1);
}

/** What failed first, that which missed its threshold most before the others; what did not fail as it comes. */
export function worstFirst(rows: readonly Row[]): Row[] {
  return [...rows].sort((a, b) => missed(b) - missed(a));
}
