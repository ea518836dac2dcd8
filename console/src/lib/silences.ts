// Silences of alerts: times in which nobody is told. The server keeps those that are made here; those of its configuration
// are shown beside them.

/** As GET /v1/alerts/silences tells it. */
export interface Silence {
  id: string;
  /** Null for every alert. */
  alert: string | null;
  /** Columns and their values; null for every slice. */
  slice: Record<string, string> | null;
  /** RFC 3339. */
  since: string;
  until: string;
  by: string | null;
  comment: string | null;
  source: "config" | "http";
}

export type When = "active" | "ahead" | "over";

export interface Timed extends Silence {
  when: When;
  /** Milliseconds since 1970. */
  from: number;
  to: number;
}

const ORDER: Record<When, number> = { active: 0, ahead: 1, over: 2 };

/** All silences: active first, then those ahead by their start, then those that are over, the latest first. */
export function timed(all: readonly Silence[], now: number): Timed[] {
  const whenOf = (from: number, to: number): When => (now >= to ? "over" : now >= from ? "active" : "ahead");
  return all
    .map((each) => ({ ...each, from: Date.parse(each.since), to: Date.parse(each.until) }))
    .filter(({ from, to }) => !Number.isNaN(from) && !Number.isNaN(to))
    .map((each) => ({ ...each, when: whenOf(each.from, each.to) }))
    .sort((a, b) => ORDER[a.when] - ORDER[b.when] || (a.when === "over" ? b.to - a.to : a.from - b.from));
}

/** The columns of a slice as an alert tells it: `request_model=model-b, service_name=shop`. */
export function columnsOf(slice: string): Record<string, string> {
  const parts = slice === "" ? [] : slice.split(/, (?=[a-z_]+=)/).filter((part) => part.includes("="));
  return Object.fromEntries(parts.map((part) => [part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)]));
}

/** The columns as an alert tells them; empty for every slice. */
export function sliceText(slice: Record<string, string> | null): string {
  return Object.entries(slice ?? {}).map(([column, value]) => `${column}=${value}`).join(", ");
}

/** The silence under which nobody is told of this slice now: of several the one that lasts longest. */
export function activeOf(all: readonly Timed[], alert: string, slice: string): Timed | undefined {
  const own = columnsOf(slice);
  const covers = (each: Timed) =>
    each.when === "active" && (each.alert === null || each.alert === alert) && Object.entries(each.slice ?? {}).every(([column, value]) => own[column] === value);
  return all.filter(covers).sort((a, b) => b.to - a.to)[0];
}

export const LENGTHS: ReadonlyArray<readonly [string, number]> = [["1 h", 1], ["4 h", 4], ["1 d", 24]];

export interface Wish {
  /** Empty for every alert. */
  alert: string;
  /** Empty for every slice. */
  slice: string;
  hours: number;
  comment: string;
  by: string;
}

/** The body of POST /v1/alerts/silences. Without a name that of the token counts. */
export function silenceBody({ alert, slice, hours, comment, by }: Wish): Record<string, unknown> {
  const columns = columnsOf(slice);
  const name = by.trim();
  return {
    alert: alert === "" ? null : alert, slice: Object.keys(columns).length === 0 ? null : columns, for: `${hours}h`, comment: comment.trim(),
    ...(name === "" ? {} : { by: name }),
  };
}
