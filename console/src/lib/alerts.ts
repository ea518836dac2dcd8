// Alerts as the server tells them: where each slice stands, and what has changed.
import type { Fault, Row } from "./api";
import { condition, withCondition } from "./filter";
import { type Estimate, millis, numberOf } from "./format";
import type { Definition } from "./server";
import { columnsOf } from "./silences";

export interface Example {
  trace_id: string;
  value: number | null;
  rationale: string | null;
}

/** Who knows of what fires. */
export interface Known {
  by: string;
  note: string;
  /** Nanoseconds since 1970, rounded by JSON. */
  until: number;
}

/** What GET /v1/alerts tells of one slice. */
export interface Standing {
  alert: string;
  slice: string;
  state: string;
  /** Nanoseconds since 1970, rounded by JSON. */
  since: number;
  statistic: number | null;
  estimate: (Estimate & { n_eff?: number }) | null;
  bound: number | null;
  n: number;
  examples: Example[];
  acknowledged?: Known;
}

/** A standing with its definition, as the table `alerts` or else the configuration has it. */
export interface Shown extends Standing {
  metric: string;
  /** SQL over scores, as the server was started with it; empty for all, and for callers who are not told. */
  filter: string;
  method: string;
  severity: string;
  alpha: number | null;
  message: string;
  history: Row[];
}

const RANK: Record<string, number> = { firing: 0, pending: 1, resolved: 2, ok: 3 };

/** A row that changed before the time range is not among `rows`: then the definition says what is watched. */
export function shownOf(standings: Standing[], rows: Row[], definitions: readonly Definition[] = []): Shown[] {
  return standings
    .map((standing): Shown => {
      const same = rows.filter((row) => row.alert === standing.alert);
      const history = same.filter((row) => row.slice === standing.slice);
      const last = history[0] ?? same[0];
      const own = definitions.find((each) => each.name === standing.alert);
      return {
        ...standing, history, filter: text(own?.filter).trim(), metric: text(last?.metric ?? own?.metric), method: text(last?.method ?? own?.method),
        severity: text(last?.severity ?? own?.severity), alpha: numberOf(last?.alpha ?? own?.alpha), message: text(history[0]?.message),
      };
    })
    .sort((a, b) => (RANK[a.state] ?? 4) - (RANK[b.state] ?? 4) || (b.statistic ?? 0) - (a.statistic ?? 0));
}

/** Standings from the table alone, for those who may not ask for all: the newest row of each slice. */
export function standingsOf(rows: Row[]): Standing[] {
  const newest = new Map<string, Row>();
  for (const row of rows) {
    const key = JSON.stringify([row.alert, row.slice]);
    if (!newest.has(key)) newest.set(key, row);
  }
  return [...newest.values()].map((row) => ({
    alert: text(row.alert), slice: text(row.slice), state: text(row.state), since: millis(text(row.since)) * 1e6,
    statistic: numberOf(row.statistic), bound: numberOf(row.threshold), n: numberOf(row.n) ?? 0, examples: [],
    estimate: { estimate: numberOf(row.estimate), lower: numberOf(row.lower), upper: numberOf(row.upper), n: numberOf(row.n) },
  }));
}

interface Answer<T> {
  data: T | undefined;
  fault: Fault | undefined;
}

export interface Told {
  /** Undefined until something is known. */
  standings: Standing[] | undefined;
  fault: Fault | undefined;
  /** The caller may not ask for all: these are the slices that changed in the time range, and where none did nothing is known. */
  isPart: boolean;
}

/** Where alerts stand: as the server tells it, else as far as the changes in the table do. */
export function standingsTold(now: Answer<{ alerts: Standing[] }>, changes: Answer<Row[]>): Told {
  const isPart = now.fault?.kind === "forbidden";
  if (!isPart) return { standings: now.data?.alerts, fault: now.fault, isPart };
  return { standings: changes.data && standingsOf(changes.data), fault: changes.fault, isPart };
}

/** Since when, RFC 3339; null where the table does not say it. */
export function sinceOf({ since }: Pick<Standing, "since">): string | null {
  const at = new Date(since / 1e6);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}

/** The body of POST /v1/alerts/acknowledge. Without a name that of the token counts. */
export function acknowledgement(alert: string, slice: string, hours: number, by: string, note: string): Record<string, string> {
  const name = by.trim();
  return { alert, slice, for: `${hours}h`, note: note.trim(), ...(name === "" ? {} : { by: name }) };
}

function text(cell: unknown): string {
  return cell === null || cell === undefined ? "" : String(cell);
}

/** The slice `request_model=model-b, service_name=shop` as a condition over scores. */
export function conditionOf(slice: string): string {
  return Object.entries(columnsOf(slice)).map(([column, value]) => condition(column, value, true)).join(" AND ");
}

/** The scores that an alert watches in a slice: those of its filter, there. Empty for all. */
export function watchedOf({ filter, slice }: Pick<Shown, "filter" | "slice">): string {
  const there = conditionOf(slice);
  return there === "" ? filter : withCondition(filter, there);
}

/** What an address names: the slice of the alert, or without one the alert's first; undefined where nothing of it is there. */
export function named(all: readonly Shown[], alert: string, slice: string | undefined): Shown | undefined {
  return all.find((each) => each.alert === alert && (slice === undefined || each.slice === slice));
}
