// What a chart says to who does not see it.
import { rate, value } from "./format";
import { extent } from "./plot";
import type { Line } from "../ui/chart-draw";
import type { Series } from "../ui/chart";

/** Series that are read out; a list of more would not be listened to. */
const MOST = 6;

/** An estimate as everywhere else; any other number with its own size: a cost of 0.00004 is not below 0.001 and no more. */
const written = (series: Series) => (series.lower || series.n ? rate : value);

function told(series: Series): string {
  const known = series.values.filter((y): y is number => typeof y === "number");
  if (known.length === 0) return `${series.label}: no value`;
  const shown = written(series);
  const [first, last] = [known[0] as number, known[known.length - 1] as number];
  const trend = last > first ? "rising" : last < first ? "falling" : "level";
  const [low, high] = extent(known);
  return `${series.label}: lowest ${shown(low)}, highest ${shown(high)}, last ${shown(last)}, ${trend}`;
}

export function summaryOf(name: string, series: readonly Series[], lines: readonly Line[], points: number): string {
  const across = lines.map((each) => ` Line: ${each.text}.`).join("");
  return `${name}. ${series.slice(0, MOST).map(told).join("; ")}. ${points} points.${across}`;
}
