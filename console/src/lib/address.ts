// What an address says. The path names the page; filters, times and selections stand in the fragment, which no access
// log holds.

export type PageName = "quality" | "trace" | "explore" | "scores" | "alerts" | "review" | "lab" | "sampling" | "system" | "sql" | "unknown";

export type State = Readonly<Record<string, string>>;

export interface Address {
  page: PageName;
  /** The rest of the path: a trace id or a metric; empty where the page has none. */
  id: string;
  state: State;
}

const FIXED: Record<string, PageName> = {
  "": "quality",
  explore: "explore",
  scores: "scores",
  alerts: "alerts",
  review: "review",
  lab: "lab",
  sampling: "sampling",
  system: "system",
  sql: "sql",
};

/** The parts of the lab. */
const LAB = ["", "datasets", "experiments", "compare", "leaderboard", "playground"];

/** Characters that a fragment may hold as they are, so that a filter can be read in the address. */
const READABLE = /%(?:20|22|27|28|29|2A|2C|2F|3A|3C|3E|5B|5D|7C|40|24|21|3B|3D)/gi;

export function encodeValue(text: string): string {
  return encodeURIComponent(text).replace(READABLE, (code) => {
    const plain = decodeURIComponent(code);
    // A space or a quote ends an address where people paste it.
    return plain === " " || plain === '"' || plain === "<" || plain === ">" || plain === "|" ? code : plain;
  });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function parseState(hash: string): State {
  const state: Record<string, string> = Object.create(null);
  for (const part of hash.replace(/^#/, "").split("&")) {
    if (part === "") continue;
    const at = part.indexOf("=");
    const key = at < 0 ? part : part.slice(0, at);
    state[decode(key)] = at < 0 ? "" : decode(part.slice(at + 1));
  }
  return state;
}

export function formatState(state: State): string {
  const parts = Object.keys(state)
    .filter((key) => state[key] !== "" && state[key] !== undefined)
    .map((key) => `${encodeURIComponent(key)}=${encodeValue(state[key] as string)}`);
  return parts.length === 0 ? "" : `#${parts.join("&")}`;
}

export function parseAddress(path: string, hash: string): Address {
  const [, first = "", ...rest] = path.split("/");
  const id = decode(rest.join("/"));
  const state = parseState(hash);
  if (first === "trace") return { page: id === "" ? "unknown" : "trace", id, state };
  const page = FIXED[first];
  if (page === "lab" && !LAB.includes(id)) return { page: "unknown", id: path, state };
  if (page === undefined || (id !== "" && page !== "scores" && page !== "review" && page !== "lab")) return { page: "unknown", id: path, state };
  return { page, id, state };
}

export function formatAddress(page: PageName, id: string, state: State): string {
  const name = page === "quality" || page === "unknown" ? "" : page;
  const path = id === "" ? `/${name}` : `/${name}/${encodeURIComponent(id)}`;
  return path + formatState(state);
}

/** The keys that all pages share. */
const SHARED = ["range", "from", "to"];

export function sharedState(state: State): State {
  const kept: Record<string, string> = {};
  for (const key of SHARED) if (state[key]) kept[key] = state[key] as string;
  return kept;
}

/** The state with some keys set; an empty text takes a key away. */
export function changed(state: State, change: Record<string, string>): State {
  const next: Record<string, string> = { ...state, ...change };
  for (const key of Object.keys(next)) if (next[key] === "") delete next[key];
  return next;
}
