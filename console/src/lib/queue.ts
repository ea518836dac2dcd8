// Queues of review: what is asked of an item, the draft of an answer, what is sent. Pure; the page uses it.
import { type Content, type Kind, newId } from "./review";

export interface Template {
  name: string;
  type: "categorical" | "numerical" | "free_text";
  instructions?: string;
  optional: boolean;
  categories?: string[];
  min?: number;
  max?: number;
  step?: number;
}

/** What an evaluator said; in a blind queue its verdict comes after the own answer. */
export interface AutoEval {
  key: string;
  evaluator: string;
  metric: string;
  auto_eval?: string;
  value?: number | null;
  label?: string | null;
  rationale?: string | null;
  reason?: string | null;
}

export interface Response {
  templates: Record<string, string | number>;
  auto_evals: Record<string, { response: string; feedback?: string }>;
}

export interface QueueSaid {
  reviewer: string;
  kind: string;
  response: Response;
  comment: string | null;
  flagged: boolean;
}

export interface QueueItem {
  item: string;
  trace_id: string;
  run_id: string | null;
  state: string;
  content: Content;
  expected: string[];
  auto_evals: AutoEval[];
  reason?: string | null;
  /** What others said, of an item that waits for a decision between them, or in a queue that is not blind. */
  answers?: QueueSaid[];
}

export interface QueueCounts {
  items: number;
  open: number;
  adjudicate: number;
  final: number;
  mine: number;
  agreed: number;
  with_label: number;
}

export interface Queue {
  queue_id: string;
  name: string;
  source: Record<string, unknown>;
  templates: Template[];
  instructions: string | null;
  reviews_per_item: number;
  blind: boolean;
  status: string;
  counts: QueueCounts;
}

export interface QueueGiven extends Queue {
  items: QueueItem[];
  why_none: string | null;
}

export interface QueueTold {
  item: string;
  state: string;
  label: Response | null;
  auto_evals: AutoEval[];
  answers: QueueSaid[];
}

/** One question: a score that is passed or failed, or a template. */
export interface Field {
  id: string;
  title: string;
  help: string;
  choices: string[];
  optional: boolean;
  kind: "choice" | "number" | "text";
  auto?: AutoEval;
  template?: Template;
}

export interface QueueDraft {
  /** By id of the field. */
  values: Record<string, string>;
  /** By key of the score. */
  feedback: Record<string, string>;
  comment: string;
  flagged: boolean;
  /** The place of the field at hand. */
  at: number;
}

export const BLANK: QueueDraft = { values: {}, feedback: {}, comment: "", flagged: false, at: 0 };

export interface QueueSent {
  answer_id: string;
  item: string;
  kind: Kind;
  templates?: Record<string, string | number>;
  auto_evals?: Record<string, { response: string; feedback?: string }>;
  comment?: string;
  flagged?: boolean;
  seconds?: number;
  reviewer?: string;
}

/** Ids of queues are hashes; metrics are words. */
export function isQueue(id: string): boolean {
  return /^[0-9a-f]{32}$/.test(id) || /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);
}

function range({ min, max, step }: Template): string {
  const parts = [min !== undefined && `from ${min}`, max !== undefined && `to ${max}`, step !== undefined && `in steps of ${step}`];
  return ["a number", ...parts.filter((part) => part !== false)].join(" ");
}

/** What is asked of an item, in its order: the scores, then the templates. */
export function fieldsOf(item: QueueItem, templates: readonly Template[]): Field[] {
  const scores = item.auto_evals.map((auto): Field => ({
    id: `score ${auto.key}`, title: auto.key, help: "pass or fail?", choices: ["pass", "fail"], optional: false, kind: "choice", auto,
  }));
  const own = templates.map((template): Field => {
    const choices = template.categories ?? [];
    const kind = template.type === "categorical" ? "choice" : template.type === "numerical" ? "number" : "text";
    const help = template.instructions ?? (kind === "number" ? range(template) : "");
    return { id: `template ${template.name}`, title: template.name, help, choices, optional: template.optional, kind, template };
  });
  return [...scores, ...own];
}

/** The first field without an answer behind `at`, or the one at `at` where all have theirs. */
export function nextField(fields: readonly Field[], values: Record<string, string>, at: number): number {
  const open = (place: number) => place > at && fields[place] !== undefined && !(values[fields[place].id] ?? "");
  const found = fields.findIndex((_, place) => open(place));
  return found < 0 ? at : found;
}

/** What is still missing, for a person. */
export function lacks(fields: readonly Field[], draft: QueueDraft): string {
  const missing = fields.find((field) => !field.optional && !(draft.values[field.id] ?? "").trim());
  if (missing) return `${missing.title} is not answered`;
  const wrong = fields.find((field) => field.kind === "number" && (draft.values[field.id] ?? "") !== "" && !Number.isFinite(Number(draft.values[field.id])));
  return wrong ? `${wrong.title} is ${wrong.help}` : "";
}

export function queueAnswer(item: QueueItem, fields: readonly Field[], kind: Kind, draft: QueueDraft, who: string, seconds: number): QueueSent {
  const sent: QueueSent = { answer_id: newId(), item: item.item, kind, ...(who ? { reviewer: who } : {}) };
  if (kind === "undo") return sent;
  const comment = draft.comment.trim();
  if (comment) sent.comment = comment;
  if (draft.flagged) sent.flagged = true;
  if (kind === "skip") return sent;
  sent.seconds = seconds;
  for (const { id, kind: of, auto, template } of fields) {
    const said = (draft.values[id] ?? "").trim();
    if (said === "") continue;
    if (template) (sent.templates ??= {})[template.name] = of === "number" ? Number(said) : said;
    if (!auto) continue;
    const feedback = (draft.feedback[auto.key] ?? "").trim();
    (sent.auto_evals ??= {})[auto.key] = { response: said, ...(feedback ? { feedback } : {}) };
  }
  return sent;
}

/** What somebody said of a field. */
export function saidOf(field: Field, response: Response): string {
  if (field.auto) return response.auto_evals[field.auto.key]?.response ?? "";
  return String(response.templates[field.template?.name ?? ""] ?? "");
}

/** The fields about which people differ, first; then the others. */
export function differingFirst(fields: readonly Field[], answers: readonly QueueSaid[]): Field[] {
  const differs = (field: Field) => new Set(answers.map((said) => saidOf(field, said.response))).size > 1;
  return [...fields.filter(differs), ...fields.filter((field) => !differs(field))];
}
