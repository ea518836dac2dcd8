// Several experiments beside each other: which are shown, in which order, and what stands out in one.
import type { Estimate } from "./format";
import type { Experiment } from "./lab";

export interface Cell {
  evaluator: string;
  metric: string;
  estimate: Estimate | null;
  measure: string;
  rank_from: number;
  rank_to: number;
}

export interface BoardRow {
  experiment_id: string;
  name: string;
  target: { kind: string; name?: string; model?: string; prompt?: string };
  parameters: Record<string, unknown> | null;
  errors: number;
  duration_ms: Estimate | null;
  cost_usd: Estimate | null;
  cells: Cell[];
}

export interface Finding {
  kind: string;
  severity: string;
  certainty: string;
  metric: string | null;
  item_ids: string[];
  estimate: number | null;
  lower: number | null;
  upper: number | null;
  threshold: number | null;
  text: string;
  action: string;
}

/** Most experiments that the server compares at once; every two of them are compared. */
export const MOST = 20;
/** Those that are shown where nobody has chosen. */
const FIRST = 8;

/** A metric by its name in the address: `evaluator/metric`. */
export function keyOf({ evaluator, metric }: { evaluator: string; metric: string }): string {
  return `${evaluator}/${metric}`;
}

/** The metrics of all rows, each once, in the order in which they are met. */
export function metricsOf(rows: BoardRow[]): Cell[] {
  const found = new Map<string, Cell>();
  for (const row of rows) for (const cell of row.cells) if (!found.has(keyOf(cell))) found.set(keyOf(cell), cell);
  return [...found.values()].sort((a, b) => keyOf(a).localeCompare(keyOf(b)));
}

/** `1`, or `1–3` where the intervals leave open which of them is better. */
export function placeText({ rank_from: from, rank_to: to }: Cell): string {
  return from === to ? String(from) : `${from}–${to}`;
}

/** The rows by their places in a metric, the best first; those without it last. Rows that tie keep their order. */
export function sorted(rows: BoardRow[], key: string): BoardRow[] {
  const cell = (row: BoardRow) => row.cells.find((each) => keyOf(each) === key);
  const place = (row: BoardRow) => {
    const found = cell(row);
    return found?.estimate ? found.rank_from * 1000 + found.rank_to : Number.POSITIVE_INFINITY;
  };
  return rows.map((row, at) => ({ row, at })).sort((a, b) => (place(a.row) === place(b.row) ? a.at - b.at : place(a.row) - place(b.row))).map(({ row }) => row);
}

/** How good a place is, from 0 for the last to 1 for the first, with the middle of what the intervals allow. */
export function standing({ rank_from: from, rank_to: to }: Cell, rows: number): number {
  return rows < 2 ? 1 : 1 - ((from + to) / 2 - 1) / (rows - 1);
}

export interface Choice {
  dataset: string;
  /** All experiments of the dataset, the newest first. */
  all: Experiment[];
  /** The ids of those that are shown. */
  ids: string[];
}

/** What is shown: what the address says as far as it is there, else the newest of the dataset asked last. */
export function choiceOf(experiments: Experiment[], dataset: string, wanted: string): Choice {
  const named = wanted.split(",").filter((id) => id !== "");
  const own = experiments.find((each) => each.experiment_id === named[0])?.dataset_id;
  const chosen = dataset || own || (experiments[0]?.dataset_id ?? "");
  const all = experiments.filter((each) => each.dataset_id === chosen);
  const known = named.filter((id) => all.some((each) => each.experiment_id === id)).slice(0, MOST);
  const begun = all.filter((each) => each.status !== "pending" && each.status !== "cancelled");
  return { dataset: chosen, all, ids: known.length > 0 ? known : begun.slice(0, FIRST).map((each) => each.experiment_id) };
}

/** The prompts and parameters in a few words, so that rows of one model can be told apart. */
export function settingsText({ target, parameters }: Pick<BoardRow, "target" | "parameters">): string {
  const given = Object.entries(parameters ?? {}).map(([key, value]) => `${key} ${typeof value === "string" ? value : JSON.stringify(value)}`);
  return [target.prompt === undefined ? "" : `prompt “${target.prompt}”`, ...given].filter(Boolean).join(", ");
}
