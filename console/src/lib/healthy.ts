// What a value of the status is on a healthy server.

/** Counts that are zero there, by the words of their names. */
const ZERO = /damaged|behind|refused|overloaded|failed|errors?$|expired/;

/**
 * Readers of the journal that keep frames back on purpose: the lake until it writes its next files, sampling until traces are
 * decided. Frames that the lake has not made visible are told as "not ready" by the server itself.
 */
const KEEPING = new Set<unknown>(["lake", "sample"]);

/** Fewer frames are on their way. */
const FEW_FRAMES = 100;

/** Whether `value` under `name` is worth a look; `row` is what it stands in. */
export function isBad(name: string, value: unknown, row: Readonly<Record<string, unknown>> = {}): boolean {
  if (typeof value !== "number" || value <= 0 || !ZERO.test(name)) return false;
  return !name.startsWith("behind") || (value >= FEW_FRAMES && !KEEPING.has(row.name));
}
