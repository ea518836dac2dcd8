// What a person can say on a span: of its answer, in words that the view `labelled_scores` counts, or of an evaluator's
// verdict, in those of the marks that correct a rate on Scores.
import type { Row } from "./api";

export interface Subject {
  about: "answer" | "verdict";
  /** The name of the annotation: the metric that is meant. */
  name: string;
}

/** What can be said of it: the label that is stored, and what the button says. */
export const WORDS: Record<Subject["about"], ReadonlyArray<readonly [label: string, says: string]>> = {
  answer: [["good", "✓ the answer is good"], ["bad", "✗ the answer is bad"]],
  verdict: [["right", "✓ the evaluator is right"], ["wrong", "✗ the evaluator is wrong"]],
};

/** All that can be spoken of on a span: its answer by each metric, and each verdict that was given. */
export function subjectsOf(scores: readonly Row[], span: string): Subject[] {
  const own = scores.filter((row) => row.span_id === span && row.status === "ok");
  const names = (rows: readonly Row[]) => rows.map((row) => String(row.metric));
  const of = (about: Subject["about"], all: string[]) => [...new Set(all)].map((name): Subject => ({ about, name }));
  return [...of("answer", ["correctness", ...names(own)]), ...of("verdict", names(own.filter((row) => typeof row.passed === "boolean")))];
}

export function keyOf({ about, name }: Subject): string {
  return `${about}/${name}`;
}

/** What is told once it is kept: where it counts, and what the server had to say of it. */
export function keptText({ about, name }: Subject, answer: unknown): string {
  const { contradicting = 0, uncounted = [] } = (answer ?? {}) as { contradicting?: number; uncounted?: string[] };
  if (about === "verdict") return `Kept as a mark on the evaluator's verdict of ${name}`;
  if (uncounted.length > 0) return `Kept, but nothing counts the word ${uncounted.join(", ")}`;
  return contradicting > 0 ? "Kept; somebody else had said the opposite, and the latest counts" : `Kept as a label of ${name}`;
}
