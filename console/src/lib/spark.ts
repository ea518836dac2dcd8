// Sparklines: a metric over time in the height of a row, with its interval. All have one scale, from 0 to 1, so that rows compare.
import type { Row, Table } from "./api";
import { rowsOf } from "./api";
import { type Estimate, interval, millis, numberOf } from "./format";

export interface Point extends Estimate {
  /** Where its bucket begins, milliseconds since 1970. */
  at: number;
}

/** Which curve a row belongs to. */
export function keyOf(row: Row, columns: readonly string[]): string {
  return JSON.stringify(columns.map((column) => row[column] ?? null));
}

/** The points of each curve, by the names that are in those columns. */
export function sparksOf(table: Table | undefined, columns: readonly string[]): Map<string, Point[]> {
  const all = new Map<string, Point[]>();
  for (const row of table ? rowsOf(table) : []) {
    const key = keyOf(row, columns);
    const points = all.get(key) ?? [];
    points.push({ at: millis(String(row.bucket)), estimate: numberOf(row.estimate), lower: numberOf(row.lower), upper: numberOf(row.upper), n: numberOf(row.n) });
    all.set(key, points);
  }
  return all;
}

const known = (points: readonly Point[]) => points.filter((point) => typeof point.estimate === "number");

/** The pieces without a gap: a bucket that has too few, or that is not there, ends one. */
export function piecesOf(points: readonly Point[], step: number): Point[][] {
  const pieces: Point[][] = [];
  for (const point of known(points)) {
    const last = pieces[pieces.length - 1];
    const before = last?.[last.length - 1];
    if (last && before && point.at - before.at <= step * 1.5) last.push(point);
    else pieces.push([point]);
  }
  return pieces;
}

/** What the curve says, in words: the lowest, the highest and the last, each with its interval and n. */
export function saysOf(points: readonly Point[]): string {
  const all = known(points);
  const last = all[all.length - 1];
  if (!last) return "too few in every bucket";
  const by = (sign: number) => all.reduce((best, point) => (sign * Number(point.estimate) > sign * Number(best.estimate) ? point : best));
  return `lowest ${interval(by(-1))}, highest ${interval(by(1))}, last ${interval(last)}`;
}
