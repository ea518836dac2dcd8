// Up to when numbers are final, as the server's answer says it: of spans before it every item is judged or given up.
import type { Table } from "./api";
import { millis } from "./format";
import type { Span } from "./range";

/** Milliseconds since 1970; undefined where the server does not know it of what the query read. */
export function finalUntil(table: Table | undefined): number | undefined {
  const told = table?.final_until;
  const at = typeof told === "string" ? millis(told) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

/**
 * Where the buckets begin that are not final, milliseconds since 1970; undefined where all that is shown is final. A bucket is
 * final when its end is, and where nothing is known none is. Buckets begin at multiples of `step`.
 */
export function openFrom(until: number | undefined, span: Span, step: number): number | undefined {
  if (until === undefined) return span.from;
  if (until >= span.to) return undefined;
  return Math.max(span.from, Math.floor(until / step) * step);
}

/** What is said of it: the least that numbers are behind, for what senders still hold, is no reason to look. */
export function finalText(until: number | undefined, span: Span, waits: string, at: (ms: number) => string): { text: string; late: boolean } {
  if (until === undefined) return { text: "Not known what is final", late: false };
  if (until >= span.to) return { text: "Final", late: false };
  const late = waits !== "" && waits !== "senders";
  return { text: `Final until ${at(until)}${late ? `, waits for ${waits}` : ""}`, late };
}
