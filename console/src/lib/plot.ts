// From a result to a plot: which columns can be x, y and series, and the values in the shape of the chart.
import { type Table, columnOf } from "./api";
import { count, millis, numberOf } from "./format";
import { line } from "./text";
import type { Series } from "../ui/chart";

export type PlotKind = "line" | "bar" | "scatter" | "histogram";

export interface PlotChoice {
  x: string;
  y: string;
  series: string;
  kind: PlotKind;
}

export interface Plotted {
  xs: number[];
  timed: boolean;
  series: Series[];
  /** Why there is nothing to draw, in words; empty where there is. */
  why: string;
  /** What of the result is not drawn, in words; empty where all of it is. */
  left: string;
}

export function isTime(table: Table, name: string): boolean {
  return table.columns.find((column) => column.name === name)?.type.startsWith("timestamp") ?? false;
}

export function numeric(table: Table): string[] {
  return table.columns.filter((_, at) => {
    const first = table.data[at]?.find((value) => value !== null);
    return first !== undefined && numberOf(first) !== null;
  }).map((column) => column.name);
}

/** What a reader most likely wants: time against the estimate, else the first number. */
export function guess(table: Table): PlotChoice {
  const numbers = numeric(table);
  const times = table.columns.filter((column) => column.type.startsWith("timestamp")).map((column) => column.name);
  const x = times[0] ?? numbers[0] ?? "";
  const y = ["estimate", "pass_rate", "mean", "n", "count"].find((name) => numbers.includes(name)) ?? numbers.find((name) => name !== x) ?? "";
  const texts = table.columns.filter((column) => column.type.includes("text")).map((column) => column.name);
  return { x, y, series: times[0] ? (texts[0] ?? "") : "", kind: times[0] ? "line" : "scatter" };
}

/** The least and the greatest; of hundreds of thousands of values too, which are too many arguments for Math.min. */
export function extent(values: readonly number[]): [number, number] {
  return [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity)];
}

/** Most series of a plot. */
const MOST = 8;
/** Longest name of a series: it is a value of the result, and may be any text. */
const LONGEST = 80;

export function plotOf(table: Table, choice: PlotChoice): Plotted {
  const nothing = (why: string): Plotted => ({ xs: [], timed: false, series: [], why, left: "" });
  if (choice.kind === "histogram") return histogram(table, choice);
  const timed = isTime(table, choice.x);
  const xColumn = columnOf(table, choice.x);
  if (xColumn.length === 0 || columnOf(table, choice.y).length === 0) return nothing("choose a column for x and one for y");
  const xOf = (at: number) => (timed ? millis(String(xColumn[at])) / 1000 : numberOf(xColumn[at]));
  const xs = [...new Set(Array.from({ length: table.rows }, (_, at) => xOf(at)).filter((x): x is number => x !== null && Number.isFinite(x)))].sort((a, b) => a - b);
  const names = choice.series ? [...new Set(columnOf(table, choice.series).map(String))] : [choice.y];
  if (names.length > 40) return nothing(`${choice.series} has ${names.length} values; a plot shows at most 40`);
  const place = new Map(xs.map((x, at) => [x, at]));
  const filled = names.slice(0, MOST).map((name) => fill(table, choice, name, xs.length, (at) => place.get(xOf(at) ?? NaN)));
  const hidden = filled.reduce((sum, each) => sum + each.hidden, 0);
  const left = leftText(choice, names.length, hidden);
  return { xs, timed, series: filled.map((each) => each.series), why: xs.length === 0 ? "no value to draw" : "", left };
}

/** A chart has one y for an x and a series: of several rows the last is drawn, which must not look like all of them. */
function leftText({ x, series }: PlotChoice, names: number, hidden: number): string {
  const place = `${line(x, LONGEST)}${series ? ` and ${line(series, LONGEST)}` : ""}`;
  return [
    names > MOST ? `The first ${MOST} of ${count(names)} values of ${line(series, LONGEST)} are drawn.` : "",
    hidden > 0 ? `${count(hidden)} ${hidden === 1 ? "row has" : "rows have"} the same ${place} as another one and ${hidden === 1 ? "is" : "are"} not drawn.` : "",
  ].filter(Boolean).join(" ");
}

function fill(table: Table, choice: PlotChoice, name: string, length: number, placeOf: (at: number) => number | undefined): { series: Series; hidden: number } {
  let hidden = 0;
  const made = (column: string, isY = false) => {
    const values = columnOf(table, column);
    if (values.length === 0) return undefined;
    const filled = new Array<number | null>(length).fill(null);
    for (let at = 0; at < table.rows; at++) {
      const place = placeOf(at);
      if (place === undefined || (choice.series && String(columnOf(table, choice.series)[at]) !== name)) continue;
      if (isY && filled[place] !== null) hidden += 1;
      filled[place] = numberOf(values[at]);
    }
    return filled;
  };
  const series: Series = { label: line(name, LONGEST), values: made(choice.y, true) ?? [] };
  // Columns of these names are the interval of y, unless they are y themselves.
  const own = ["lower", "upper", "n"].includes(choice.y);
  const [lower, upper, n] = own ? [] : [made("lower"), made("upper"), made("n")];
  if (lower && upper) Object.assign(series, { lower, upper });
  if (n) series.n = n;
  return { series, hidden };
}

function histogram(table: Table, choice: PlotChoice): Plotted {
  const values = columnOf(table, choice.y).map(numberOf).filter((y): y is number => y !== null);
  if (values.length === 0) return { xs: [], timed: false, series: [], why: "choose a column of numbers for y", left: "" };
  const [low, high] = extent(values);
  const bins = Math.min(40, Math.max(1, Math.ceil(Math.sqrt(values.length))));
  const width = (high - low) / bins || 1;
  const counts = new Array<number>(bins).fill(0);
  for (const y of values) {
    const bin = Math.min(bins - 1, Math.floor((y - low) / width));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return { xs: counts.map((_, at) => low + (at + 0.5) * width), timed: false, series: [{ label: "rows", values: counts }], why: "", left: "" };
}
