// What may explain a step in a curve, as marks in time: versions after the first of their name, and alerts.
import type { Row } from "./api";
import { millis } from "./format";
import { line } from "./text";

export interface Mark {
  /** Seconds since 1970. */
  at: number;
  text: string;
}

/** Most marks on one chart: more would hide the curve. */
const MOST = 8;

const WORDS: Record<string, string> = { deployment: "deploy", alert: "alert", evaluator: "evaluator" };

/** Of changes in the order of time: those of this evaluator, or of all where none is named, and of this metric's alerts. */
export function marksOf(changes: readonly Row[], evaluator: string, metric: string): Mark[] {
  const seen = new Set<string>();
  const marks: Mark[] = [];
  for (const row of changes) {
    const [kind, name] = [String(row.kind), String(row.name)];
    const word = WORDS[kind];
    if (word === undefined || (kind === "evaluator" && evaluator !== "" && name !== evaluator) || (kind === "alert" && name !== metric)) continue;
    const first = !seen.has(`${kind} ${name}`);
    seen.add(`${kind} ${name}`);
    // What is seen first in a range was there before it; an alert has changed whenever it has a row.
    if (first && kind !== "alert") continue;
    marks.push({ at: millis(String(row.at)) / 1000, text: `${word} ${line(String(row.version), 18)}` });
  }
  return marks.slice(0, MOST);
}
