// Datasets and experiments as the lab tells them, and how two experiments are read side by side.
import type { Estimate } from "./format";

export interface Head {
  dataset_id: string;
  name: string;
  version: number;
  change: string;
  description?: string;
  labels?: string[];
  items: number;
  content_hash: string;
  message?: string;
  created_at: string;
  created_by: string;
}

/** A file of an item. */
export interface Attached {
  name: string;
  sha256: string;
  bytes: number;
}

export interface Item {
  item_id?: string;
  external_id?: string;
  input?: unknown;
  expected?: unknown;
  tags?: string[];
  split?: string;
  files?: Attached[];
  source_trace_id?: string;
  source_span_id?: string;
  ordinal?: number;
}

export interface Diff {
  added: Item[];
  removed: Item[];
  changed: Array<{ item_id: string; before: Item; after: Item }>;
}

export interface Experiment {
  experiment_id: string;
  name: string;
  dataset_id: string;
  dataset_version: number;
  target: { kind: string; name?: string; model?: string; system?: string; prompt?: string };
  parameters?: Record<string, unknown> | null;
  repetitions: number;
  status: string;
  baseline: boolean;
  tags: string[];
  error?: string;
  changed_at: string;
}

export interface MetricSummary {
  evaluator: string;
  metric: string;
  passed: Estimate | null;
  value: Estimate | null;
  scores: number;
  errors: number;
  skipped: number;
}

/** The metrics of the items that share a value of a tag, split or key. */
export interface SliceSummary {
  by: string;
  value: string;
  items: number;
  metrics: MetricSummary[];
}

export interface Summary {
  items: number;
  runs: number;
  done: number;
  errors: number;
  metrics: MetricSummary[];
  duration_ms: Estimate | null;
  cost_usd: Estimate | null;
}

export interface Difference {
  evaluator: string;
  metric: string;
  measure: string;
  baseline: number;
  new: number;
  difference: number;
  lower: number | null;
  upper: number | null;
  n: number;
  p_adjusted: number;
  verdict: string;
  detectable: number | null;
  n_for_two_points: number | null;
}

export interface Side {
  passed: number | null;
  of: number;
  mean: number;
}

export interface Moved {
  item_id: string;
  kind: string;
  metrics: Array<{ evaluator: string; metric: string; baseline: Side; new: Side }>;
}

export interface SliceDifference {
  by: string;
  value: string;
  paired: number;
  metrics: Difference[];
}

export interface Comparison {
  paired: number;
  unpaired: number;
  metrics: Difference[];
  slices: SliceDifference[];
  slices_left_out: number;
  items: Moved[];
  unchanged: number;
}

/** `3/3`, or the mean where there are no verdicts. */
export function sideText(side: Side): string {
  return side.passed === null ? String(Number(side.mean.toPrecision(4))) : `${side.passed}/${side.of}`;
}

/** What an item says, as text: a text as it is, `{"question": …}` its question, everything else as JSON. */
export function textOf(content: unknown): string {
  if (content === null || content === undefined) return "";
  if (typeof content === "string") return content;
  const only = content as Record<string, unknown>;
  for (const key of ["question", "answer"]) if (typeof only[key] === "string") return only[key] as string;
  return JSON.stringify(content);
}

/** A column of JSON text: a quoted text becomes that text. */
export function cellText(cell: unknown): string {
  if (typeof cell !== "string") return textOf(cell);
  try {
    return textOf(JSON.parse(cell));
  } catch {
    return cell;
  }
}

/** `+3.2 points`, with the sign; a value that is no rate as it is. */
export function signed(difference: number, measure: string): string {
  const number = measure === "pass_rate" ? difference * 100 : difference;
  const text = Number(number.toPrecision(3)).toString();
  return number > 0 ? `+${text}` : text.replace("-", "−");
}

/** What the verdict means, in a sentence: where nothing is shown, what could have been. */
export function verdictText({ verdict, detectable, measure, n_for_two_points: wanted }: Difference): string {
  if (verdict !== "no difference shown") return verdict;
  if (detectable === null) return verdict;
  // More than all of them is no difference that a rate can have.
  if (measure === "pass_rate" && detectable > 1) return `${verdict}; so few pairs could show none`;
  const seen = measure === "pass_rate" ? `${Number((detectable * 100).toPrecision(2))} points` : String(Number(detectable.toPrecision(2)));
  const more = wanted !== null && measure === "pass_rate" ? `; two points need n ${wanted.toLocaleString("en")}` : "";
  return `no difference shown; ${seen} would have been seen${more}`;
}

export interface Word {
  text: string;
  same: boolean;
}

/** Longest texts that are compared word by word; longer ones are shown as they are. */
const WORDS = 600;

/** The words of both texts, each marked where the other has it too (longest common subsequence). */
export function words(before: string, after: string): [Word[], Word[]] {
  const split = (text: string) => text.match(/\s*\S+/g) ?? [];
  const [a, b] = [split(before), split(after)];
  const whole = (text: string): Word[] => [{ text, same: true }];
  if (a.length > WORDS || b.length > WORDS) return [whole(before), whole(after)];
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  const same = (i: number, j: number) => (a[i] as string).trim() === (b[j] as string).trim();
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const here = same(i, j) ? (lengths[(i + 1) * width + j + 1] as number) + 1 : Math.max(lengths[(i + 1) * width + j] as number, lengths[i * width + j + 1] as number);
      lengths[i * width + j] = here;
    }
  }
  const left = a.map((text) => ({ text, same: false }));
  const right = b.map((text) => ({ text, same: false }));
  for (let [i, j] = [0, 0]; i < a.length && j < b.length;) {
    if (same(i, j)) {
      (left[i++] as Word).same = true;
      (right[j++] as Word).same = true;
    } else if ((lengths[(i + 1) * width + j] as number) >= (lengths[i * width + j + 1] as number)) i++;
    else j++;
  }
  return [left, right];
}

/** The path of a request of the lab; the tenant that an admin has chosen goes along. */
export function labPath(path: string, params: Record<string, string> = {}, tenant = ""): string {
  const all = new URLSearchParams({ ...params, ...(tenant ? { tenant } : {}) }).toString();
  return `/v1/lab/${path}${all ? `?${all}` : ""}`;
}

/** Where the files of an item are; one without a hash is nowhere. */
export function filesOf({ files = [] }: Item, tenant = ""): Array<{ name: string; href: string }> {
  const known = files.filter(({ sha256 }) => /^[0-9a-f]{64}$/.test(sha256));
  return known.map(({ name, sha256 }) => ({ name, href: labPath(`files/${sha256}`, { name }, tenant) }));
}
