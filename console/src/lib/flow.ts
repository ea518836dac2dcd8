// What became of the traces of a rule. A trace gets one first decision; one that was queued gets a second when it ends.
import type { Row } from "./api";
import { quoted } from "./filter";
import { numberOf } from "./format";

export interface Step {
  kind: string;
  n: number;
  /** Reasons with their counts, the most frequent first. */
  reasons: Array<{ text: string; n: number }>;
}

export interface Stratum {
  name: string;
  n: number;
  low: number | null;
  high: number | null;
}

export interface Flow {
  rule: string;
  versions: number;
  /** Traces that the rule has seen. */
  seen: number;
  /** First decisions. */
  first: Step[];
  /** What became of those that were queued; `waiting` is the rest. */
  then: Step[];
  strata: Stratum[];
}

/** Reasons that C15 counts together. */
const OTHERS = "other reasons";

/** A condition over spans for the traces about which this was decided; undefined where they have no reason in common. */
export function tracesOf(rule: string, kind: string, reason: string): string | undefined {
  // What waits has no decision yet.
  if (kind === "waiting" || reason === OTHERS) return undefined;
  // C15 leaves the number out that was drawn.
  const drawn = kind === "not_sampled" || kind === "over_budget";
  const why = reason === "" ? "" : drawn ? ` AND ends_with(reason, ${quoted(reason)})` : ` AND reason = ${quoted(reason)}`;
  return `trace_id IN (SELECT trace_id FROM decisions WHERE rule = ${quoted(rule)} AND decision = ${quoted(kind)}${why})`;
}

/** What C16 counts, in words of the table `decisions`. */
const COUNTED = ["queued", "scored", "throttled", "over_budget", "expired", "failed"];

/**
 * The traces that a point of the curve of coverage counts, for the explorer: they were decided in the bucket, but their spans
 * began before it, the first at `first`. Times are milliseconds since 1970.
 */
export function decidedIn(bucket: number, step: number, first: number): { where: string; from: number; to: number } {
  const at = (ms: number) => quoted(new Date(ms).toISOString());
  const where = `trace_id IN (SELECT trace_id FROM decisions WHERE decision IN (${COUNTED.map(quoted).join(", ")}) AND decided_at >= ${at(bucket)} AND decided_at < ${at(bucket + step)})`;
  return { where, from: Math.min(bucket, Number.isNaN(first) ? bucket : Math.floor(first)), to: bucket + step };
}

const FIRST = ["filtered", "not_sampled", "throttled", "over_budget", "queued"];
const THEN = ["scored", "expired", "failed"];

function stepOf(kind: string, rows: Row[]): Step {
  const mine = rows.filter((row) => row.decision === kind);
  const reasons = new Map<string, number>();
  for (const row of mine) {
    const text = String(row.reason ?? "");
    reasons.set(text, (reasons.get(text) ?? 0) + (numberOf(row.n) ?? 0));
  }
  const list = [...reasons].map(([text, n]) => ({ text, n })).sort((a, b) => b.n - a.n);
  return { kind, n: list.reduce((sum, each) => sum + each.n, 0), reasons: list };
}

function strataOf(rows: Row[]): Stratum[] {
  const all = new Map<string, Stratum>();
  for (const row of rows.filter((each) => each.decision === "queued")) {
    const name = row.stratum === null ? "" : String(row.stratum);
    const one = all.get(name) ?? { name, n: 0, low: null, high: null };
    const [low, high] = [numberOf(row.p_min), numberOf(row.p_max)];
    one.n += numberOf(row.n) ?? 0;
    if (low !== null) one.low = one.low === null ? low : Math.min(one.low, low);
    if (high !== null) one.high = one.high === null ? high : Math.max(one.high, high);
    all.set(name, one);
  }
  return [...all.values()].sort((a, b) => b.n - a.n);
}

export function flowsOf(rows: Row[]): Flow[] {
  return [...new Set(rows.map((row) => String(row.rule)))].map((rule) => {
    const mine = rows.filter((row) => String(row.rule) === rule);
    const first = FIRST.map((kind) => stepOf(kind, mine)).filter((step) => step.n > 0);
    const then = THEN.map((kind) => stepOf(kind, mine)).filter((step) => step.n > 0);
    const queued = first.find((step) => step.kind === "queued")?.n ?? 0;
    const ended = then.reduce((sum, step) => sum + step.n, 0);
    // Items that were queued before the range may end in it: then nothing waits that we know of.
    if (queued > ended) then.push({ kind: "waiting", n: queued - ended, reasons: [] });
    return { rule, versions: new Set(mine.map((row) => row.rule_version)).size, seen: first.reduce((sum, step) => sum + step.n, 0), first, then, strata: strataOf(mine) };
  });
}

/** The rate of a rule as somebody types it; undefined for what the server would refuse, such as `0,1`. */
export function rateOf(text: string): number | undefined {
  const rate = text.trim() === "" ? Number.NaN : Number(text);
  return rate > 0 && rate <= 1 ? rate : undefined;
}

/** Decisions by which a trace is lost that the rule would have judged. */
const LOST = ["throttled", "over_budget", "expired", "failed"];

export interface Loss {
  /** All traces that were lost. */
  lost: number;
  /** The decision and the reason by which they were most often. */
  kind: string;
  reason: string;
  n: number;
}

/** Why the traces that a rule lost were lost most often; undefined where it lost none. */
export function mostlyLost({ first, then }: Pick<Flow, "first" | "then">): Loss | undefined {
  const steps = [...first, ...then].filter((step) => LOST.includes(step.kind));
  const lost = steps.reduce((sum, step) => sum + step.n, 0);
  const all = steps.flatMap(({ kind, reasons }) => reasons.map(({ text, n }) => ({ lost, kind, reason: text, n })));
  return all.sort((a, b) => b.n - a.n)[0];
}
