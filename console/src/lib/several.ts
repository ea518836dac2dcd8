// Several experiments against one baseline, and long lists of experiments, page by page.
import type { Estimate } from "./format";
import type { Difference, Experiment, SliceDifference } from "./lab";

export interface SeveralCell {
  evaluator: string;
  metric: string;
  measure: string;
  estimate: Estimate | null;
  /** None of the baseline itself, and where it lacks the metric. */
  difference: Difference | null;
}

export interface Standing {
  experiment_id: string;
  name: string;
  items: number;
  errors: number;
  purged: number;
  cells: SeveralCell[];
}

export interface Against extends Standing {
  paired: number;
  unpaired: number;
  slices: SliceDifference[];
  slices_left_out: number;
}

export interface Several {
  baseline: Standing;
  experiments: Against[];
  dimensions: string[];
}

/** Most experiments that the server holds against one baseline at once. */
export const MOST = 20;

/** The ids of a list with commas, each once. */
export function idsOf(text: string): string[] {
  return [...new Set(text.split(",").filter((id) => id !== ""))];
}

/** The list with the id where it was without, and without it where it was with. */
export function flipped(text: string, id: string): string {
  const ids = idsOf(text);
  return (ids.includes(id) ? ids.filter((each) => each !== id) : [...ids, id]).join(",");
}

/** What stands beside another baseline: the one that was it stays, and the other need not be named twice where that would be one too many. */
export function beside(named: string[], before: string, after: string): string[] {
  const all = [...new Set([...named, before])];
  return all.length > MOST ? all.filter((id) => id !== after) : all;
}

/** Whether it can be chosen beside what is chosen: of the same dataset, as far as the list tells it, and not one too many. */
export function fits(all: Experiment[], chosen: string[], one: Experiment): boolean {
  if (chosen.includes(one.experiment_id)) return true;
  const first = all.find((each) => chosen.includes(each.experiment_id));
  return chosen.length < MOST && (first === undefined || first.dataset_id === one.dataset_id);
}

/** The metrics of all, each once, those of the baseline first. */
export function metricsOf({ baseline, experiments }: Several): SeveralCell[] {
  const found = new Map<string, SeveralCell>();
  for (const one of [baseline, ...experiments]) for (const cell of one.cells) {
    const key = JSON.stringify([cell.evaluator, cell.metric]);
    if (!found.has(key)) found.set(key, cell);
  }
  return [...found.values()];
}

export function cellOf(of: Standing, { evaluator, metric }: SeveralCell): SeveralCell | undefined {
  return of.cells.find((each) => each.evaluator === evaluator && each.metric === metric);
}

/** What the items can be parted by, with what is chosen, which may be a key that the first items do not have. */
export function partsOf(dimensions: string[], chosen: string): string[] {
  return chosen === "" || dimensions.includes(chosen) ? dimensions : [...dimensions, chosen];
}

export interface ListPage {
  experiments: Experiment[];
  next: string | null;
}

export interface Listed {
  experiments: Experiment[];
  /** There are older ones, which were not asked for. */
  more: boolean;
}

/** Pages of a list, at most so many. */
const PAGES = 5;

/** The experiments of the first pages, the newest first. */
export async function allOf(load: (after: string) => Promise<ListPage>): Promise<Listed> {
  const experiments: Experiment[] = [];
  let after = "";
  for (let page = 0; page < PAGES; page++) {
    const { experiments: found, next } = await load(after);
    experiments.push(...found);
    if (!next) return { experiments, more: false };
    after = next;
  }
  return { experiments, more: true };
}
