// The time range that all pages share: relative ("7d", up to now) or fixed (two instants).
import type { State } from "./address";

export interface Range {
  /** "15m", "24h", "7d"; empty for a fixed range. */
  relative: string;
  from: string;
  to: string;
}

export interface Span {
  /** Milliseconds since 1970, the end excluded. */
  from: number;
  to: number;
}

export const CHOICES: ReadonlyArray<readonly [string, string]> = [
  ["15m", "Last 15 minutes"],
  ["1h", "Last hour"],
  ["6h", "Last 6 hours"],
  ["24h", "Last 24 hours"],
  ["3d", "Last 3 days"],
  ["7d", "Last 7 days"],
  ["30d", "Last 30 days"],
];

export const DEFAULT: Range = { relative: "7d", from: "", to: "" };

const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of "15m", "6h" or "7d"; undefined for anything else. */
export function lengthOf(relative: string): number | undefined {
  const match = /^([1-9][0-9]{0,3})([mhd])$/.exec(relative);
  return match ? Number(match[1]) * (UNITS[match[2] as string] as number) : undefined;
}

export function rangeOf(state: State): Range | undefined {
  const { range = "", from = "", to = "" } = state;
  if (lengthOf(range) !== undefined) return { relative: range, from: "", to: "" };
  const [start, end] = [Date.parse(from), Date.parse(to)];
  if (Number.isFinite(start) && Number.isFinite(end) && start < end) return { relative: "", from, to };
  return undefined;
}

export function stateOf(range: Range): Record<string, string> {
  return range.relative
    ? { range: range.relative, from: "", to: "" }
    : { range: "", from: range.from, to: range.to };
}

export function spanOf(range: Range, now: number): Span {
  const length = lengthOf(range.relative);
  if (length !== undefined) return { from: now - length, to: now };
  return { from: Date.parse(range.from), to: Date.parse(range.to) };
}

export function fixed(span: Span): Range {
  const text = (at: number) => new Date(Math.round(at)).toISOString();
  return { relative: "", from: text(span.from), to: text(span.to) };
}

/** The time range of a bucket that begins at so many seconds, for an address. */
export function bucketOf(seconds: number, step: number): Record<string, string> {
  return stateOf(fixed({ from: seconds * 1000, to: seconds * 1000 + step }));
}

/** The window before (-1) or after (1), of the same length, half of it new. */
export function shifted(span: Span, by: number): Range {
  const half = (span.to - span.from) / 2;
  return fixed({ from: span.from + by * half, to: span.to + by * half });
}

const STEPS: ReadonlyArray<readonly [number, string]> = [
  [1_000, "1 second"],
  [5_000, "5 seconds"],
  [10_000, "10 seconds"],
  [30_000, "30 seconds"],
  [60_000, "1 minute"],
  [300_000, "5 minutes"],
  [600_000, "10 minutes"],
  [1_800_000, "30 minutes"],
  [3_600_000, "1 hour"],
  [10_800_000, "3 hours"],
  [21_600_000, "6 hours"],
  [43_200_000, "12 hours"],
  [86_400_000, "1 day"],
  [604_800_000, "7 days"],
];

/** The width of a bucket as SQL says it, and in milliseconds: the smallest that makes at most `most` buckets. */
export function stepOf(span: Span, most = 200): { sql: string; ms: number } {
  const length = span.to - span.from;
  const found = STEPS.find(([ms]) => length / ms <= most) ?? STEPS[STEPS.length - 1];
  const [ms, sql] = found as readonly [number, string];
  return { sql, ms };
}

export function nameOf(range: Range): string {
  const choice = CHOICES.find(([key]) => key === range.relative);
  return choice ? choice[1] : range.relative ? `Last ${range.relative}` : "Fixed range";
}
