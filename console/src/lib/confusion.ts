// What was expected against what was answered, from the labels `expected -> answered` of the evaluator `classification`.
import type { Row } from "./api";
import { numberOf } from "./format";

export interface Class {
  label: string;
  /** How often it was expected. */
  expected: number;
  precision: number | null;
  recall: number | null;
  f1: number | null;
}

export interface Confusion {
  /** Those that were expected first, by how often; then those that were only answered. */
  classes: Class[];
  n: number;
  of: (expected: string, answered: string) => number;
}

const ARROW = " -> ";

export function confusionOf(rows: readonly Row[]): Confusion {
  const cells = new Map<string, Map<string, number>>();
  for (const row of rows) {
    const text = String(row.label ?? "");
    const at = text.indexOf(ARROW);
    if (at < 0) continue;
    const [expected, answered] = [text.slice(0, at), text.slice(at + ARROW.length)];
    const line = cells.get(expected) ?? new Map<string, number>();
    line.set(answered, (line.get(answered) ?? 0) + (numberOf(row.n) ?? 0));
    cells.set(expected, line);
  }
  const of = (expected: string, answered: string) => cells.get(expected)?.get(answered) ?? 0;
  const total = (counts: Iterable<number>) => [...counts].reduce((sum, n) => sum + n, 0);
  const labels = [...new Set([...cells.keys(), ...[...cells.values()].flatMap((line) => [...line.keys()])])];
  const classes = labels.map((label): Class => {
    const expected = total(cells.get(label)?.values() ?? []);
    const answered = total(labels.map((other) => of(other, label)));
    const right = of(label, label);
    const [precision, recall] = [answered === 0 ? null : right / answered, expected === 0 ? null : right / expected];
    return { label, expected, precision, recall, f1: expected + answered === 0 ? null : (2 * right) / (expected + answered) };
  });
  classes.sort((a, b) => b.expected - a.expected || (a.label < b.label ? -1 : 1));
  return { classes, n: total(classes.map((each) => each.expected)), of };
}
