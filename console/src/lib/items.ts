// Items of a metric in a list: which is which, and which one is at hand.
import type { Row } from "./api";

/** What a mark is about: several evaluators or rules may have judged one item. */
export function itemOf(row: Row): string {
  return `${String(row.trace_id)}.${String(row.span_id)}`;
}

/** A name for each row: that of its item, with a number behind it where the item stands there again. */
export function namesOf(rows: readonly Row[]): string[] {
  const times = new Map<string, number>();
  return rows.map((row) => {
    const item = itemOf(row);
    const time = (times.get(item) ?? 0) + 1;
    times.set(item, time);
    return time === 1 ? item : `${item}.${time}`;
  });
}

/** The place after a step from the row of that name; undefined where there are no rows. */
export function stepped(names: readonly string[], chosen: string, by: number): string | undefined {
  const at = Math.max(0, names.indexOf(chosen));
  return names[Math.max(0, Math.min(names.length - 1, at + by))];
}
