// Silences of alerts: times in which nobody is told. They stand in groundline.toml; here they are read and proposed.

/** What `/v1/status` tells of an alert that concerns silences. */
export interface Configured {
  name: string;
  silences?: string[];
}

export type When = "active" | "ahead" | "over";

export interface Silence {
  alert: string;
  /** Milliseconds since 1970. */
  from: number;
  to: number;
  when: When;
  /** As it stands in the file. */
  text: string;
}

const ORDER: Record<When, number> = { active: 0, ahead: 1, over: 2 };

/** All silences: active first, then those ahead by their start, then those that are over, the latest first. */
export function silencesOf(alerts: readonly Configured[], now: number): Silence[] {
  return alerts
    .flatMap(({ name, silences = [] }) => silences.map((text) => parsed(name, text, now)))
    .filter((each): each is Silence => each !== undefined)
    .sort((a, b) => ORDER[a.when] - ORDER[b.when] || (a.when === "over" ? b.to - a.to : a.from - b.from));
}

function parsed(alert: string, text: string, now: number): Silence | undefined {
  const [first = "", second = ""] = text.split("/");
  const [from, to] = [Date.parse(first.trim()), Date.parse(second.trim())];
  if (Number.isNaN(from) || Number.isNaN(to)) return undefined;
  return { alert, from, to, when: now >= to ? "over" : now >= from ? "active" : "ahead", text };
}

/** The silence that holds now for this alert. */
export function activeOf(all: readonly Silence[], alert: string): Silence | undefined {
  return all.find((each) => each.alert === alert && each.when === "active");
}

export const LENGTHS: ReadonlyArray<readonly [string, number]> = [["1 h", 1], ["4 h", 4], ["1 d", 24]];

/** RFC 3339 to the second. */
function stamp(at: number): string {
  return new Date(at).toISOString().replace(/\.[0-9]+Z$/, "Z");
}

/** A comment is one line: what would end it or hide in it becomes a space. */
function comment(reason: string): string {
  const flat = reason.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+/g, " ").trim().slice(0, 200);
  return flat === "" ? "" : `  # ${flat}`;
}

function quoted(text: string): string {
  // What JSON writes for a text is a basic string of TOML too; TOML wants U+007F escaped as well.
  return JSON.stringify(text).replace(/\u007f/g, "\\u007f");
}

/**
 * The lines for groundline.toml that silence `alert` from `now` for so many hours. Those of its silences that are not over
 * stay in the list: the key is replaced as a whole.
 */
export function snippet(alert: string, hours: number, reason: string, now: number, all: readonly Silence[]): string {
  const kept = all.filter((each) => each.alert === alert && each.when !== "over").map((each) => `    ${quoted(each.text)},`);
  const start = Math.floor(now / 1000) * 1000;
  const made = `    ${quoted(`${stamp(start)}/${stamp(start + hours * 3_600_000)}`)},${comment(reason)}`;
  return `# in [[alerts]] name = ${quoted(alert)}\nsilences = [\n${[...kept, made].join("\n")}\n]\n`;
}
