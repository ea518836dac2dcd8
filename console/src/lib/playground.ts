// The playground: what is asked, by which prompts, and what becomes of it.
import type { Row } from "./api";
import { messagesOf, textOf } from "./messages";
import { json } from "./text";
import type { Item } from "./lab";

/** One column: whom to ask, and how. */
export interface Variant {
  target: string;
  /** What stands in place of the target's own prompts; undefined leaves those. */
  system?: string;
  prompt?: string;
  /** JSON text of an object, such as `{"temperature": 0}`. */
  parameters?: string;
}

export interface TargetInfo {
  name: string;
  kind?: string;
  model?: string;
  error?: string;
}

export interface EvaluatorInfo {
  id: string;
  asks_others: boolean;
  metrics: Array<{ name: string; better: string; threshold: number | null }>;
}

export interface TrialScore {
  evaluator: string;
  metric: string;
  status: string;
  value: number | null;
  label: string | null;
  passed: boolean | null;
  rationale: string | null;
  error: string | null;
}

export interface TrialAnswer {
  output: unknown;
  error: string | null;
  trace_id: string | null;
  input_tokens: number | null;
  output_tokens: number | null;
  cost_usd: number | null;
  duration_ms: number | null;
  scores: TrialScore[];
}

/** Items that are asked at once, and columns beside each other. */
export const MOST_ITEMS = 16;
export const MOST_VARIANTS = 4;

const KEYS = ["target", "system", "prompt", "parameters"] as const;

/** The columns of an address; what is none there is left out. */
export function variantsOf(text: string): Variant[] {
  const list = json(text);
  if (!Array.isArray(list)) return [];
  const read = (each: unknown): Variant => {
    const given = (typeof each === "object" && each !== null ? each : {}) as Record<string, unknown>;
    const variant: Variant = { target: "" };
    for (const key of KEYS) if (typeof given[key] === "string") variant[key] = given[key] as string;
    return variant;
  };
  return list.slice(0, MOST_VARIANTS).map(read);
}

export function variantsText(variants: Variant[]): string {
  return JSON.stringify(variants);
}

/** The paths of all places `{{…}}` of a prompt; undefined where one is not closed. */
export function places(text: string): string[] | undefined {
  const found: string[] = [];
  let rest = text;
  for (;;) {
    const start = rest.indexOf("{{");
    if (start < 0) return found;
    const end = rest.indexOf("}}", start);
    if (end < 0) return undefined;
    found.push(rest.slice(start + 2, end).trim());
    rest = rest.slice(end + 2);
  }
}

function at(scope: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((value, part) => {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    return (value as Record<string, unknown>)[part];
  }, scope);
}

function scopeOf(item: PlaygroundItem, parameters: Record<string, unknown>): Record<string, unknown> {
  return { input: item.input ?? null, contexts: item.contexts ?? null, parameters };
}

export interface PlaygroundItem extends Item {
  contexts?: unknown[];
  metadata?: unknown;
  constraints?: unknown[];
}

/** What is wrong with the prompts of a column over these items, in a sentence; empty where nothing is. */
export function promptFault(variant: Variant, items: PlaygroundItem[]): string {
  const parameters = parametersOf(variant);
  if (typeof parameters === "string") return parameters;
  for (const text of [variant.system ?? "", variant.prompt ?? ""]) {
    const found = places(text);
    if (found === undefined) return "a place {{ is not closed by }}";
    for (const path of found) {
      if (!/^(input|contexts|parameters)(\.|$)/.test(path)) return `{{${path}}} is no place: it begins with input, contexts or parameters`;
      const lacking = items.findIndex((item) => (at(scopeOf(item, parameters), path) ?? null) === null);
      // The parameters of the target are not known here.
      if (lacking >= 0 && !path.startsWith("parameters")) return `item ${lacking + 1} has no {{${path}}}`;
    }
  }
  return "";
}

/** The parameters of a column, or what is wrong with them. */
export function parametersOf({ parameters = "" }: Variant): Record<string, unknown> | string {
  if (parameters.trim() === "") return {};
  const found = json(parameters.trim());
  return typeof found === "object" && found !== null && !Array.isArray(found) ? (found as Record<string, unknown>) : "the parameters are no JSON object, such as {\"temperature\": 0}";
}

/** Places that a prompt may name for an item: the whole input, and its keys two levels deep. */
export function pathsOf(item: PlaygroundItem | undefined): string[] {
  const paths = ["input"];
  const add = (value: unknown, path: string, depth: number) => {
    if (depth === 0 || typeof value !== "object" || value === null || Array.isArray(value)) return;
    for (const [key, inner] of Object.entries(value)) {
      if (/[.{}]/.test(key)) continue;
      paths.push(`${path}.${key}`);
      add(inner, `${path}.${key}`, depth - 1);
    }
  };
  add(item?.input, "input", 2);
  if ((item?.contexts ?? []).length > 0) paths.push("contexts");
  return paths.slice(0, 20);
}

/** The body of a request; what the server gave with an item and would not take back is left out. */
export function trialOf(variant: Variant, items: PlaygroundItem[], evaluators: string[]): Record<string, unknown> {
  const { target, system, prompt } = variant;
  const bare = ({ input, expected, contexts, metadata, constraints }: PlaygroundItem) => {
    const all = { input, expected, contexts, metadata, constraints };
    return Object.fromEntries(Object.entries(all).filter(([, each]) => each !== undefined && each !== null));
  };
  return { target, ...(system === undefined ? {} : { system }), ...(prompt === undefined ? {} : { prompt }), parameters: parametersOf(variant), evaluators, items: items.map(bare) };
}

/** The experiment that asks all of a dataset as a column does. */
export function experimentOf(name: string, dataset: string, variant: Variant, evaluators: string[]): Record<string, unknown> {
  const { target, system, prompt } = variant;
  return {
    name, dataset, evaluators, parameters: parametersOf(variant), tags: ["playground"],
    target: { kind: "named", name: target, ...(system === undefined ? {} : { system }), ...(prompt === undefined ? {} : { prompt }) },
  };
}

/** The column that asks as an experiment did. */
export function variantOf(target: { name?: string; system?: string; prompt?: string }, parameters: unknown): Variant {
  const given = typeof parameters === "object" && parameters !== null && Object.keys(parameters).length > 0;
  return {
    target: target.name ?? "", ...(target.system === undefined ? {} : { system: target.system }), ...(target.prompt === undefined ? {} : { prompt: target.prompt }),
    ...(given ? { parameters: JSON.stringify(parameters) } : {}),
  };
}

interface Document {
  id?: unknown;
  uri?: unknown;
  content?: unknown;
}

/** The item that a call was asked: its messages, and what it or else its trace had retrieved. */
export function itemOfSpan(rows: Row[], trace: string, span: string): PlaygroundItem | undefined {
  const own = rows.find((row) => row.span_id === span);
  if (!own) return undefined;
  const messages = messagesOf(own.input_messages).map((message) => ({ role: message.role, content: textOf(message) })).filter(({ content }) => content !== "");
  const system = typeof own.system_prompt === "string" && own.system_prompt !== "" && !messages.some(({ role }) => role === "system");
  const all = system ? [{ role: "system", content: String(own.system_prompt) }, ...messages] : messages;
  const asked = typeof own.question === "string" ? own.question : [...messages].reverse().find(({ role }) => role === "user")?.content;
  if (asked === undefined && all.length === 0) return undefined;
  const input = all.length < 2 ? (asked ?? all[0]?.content) : { ...(asked === undefined ? {} : { question: asked }), messages: all };
  const contexts = documentsOf(own).length > 0 ? documentsOf(own) : rows.flatMap((row) => (row.operation === "retrieval" ? documentsOf(row) : []));
  return { input, source_trace_id: trace, source_span_id: span, ...(contexts.length > 0 ? { contexts } : {}) };
}

function documentsOf(row: Row): unknown[] {
  const list = json(row.documents);
  if (!Array.isArray(list)) return [];
  return (list as Document[]).filter((doc) => typeof doc?.content === "string").map(({ id, uri, content }) => ({
    ...(typeof id === "string" ? { id } : {}), ...(typeof uri === "string" ? { uri } : {}), text: content,
  }));
}
