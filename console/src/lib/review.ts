// What a reviewer works on: the items at hand, the draft of an answer, what is sent. Pure; the page and the outbox use it.

export interface Doc {
  id?: string | null;
  uri?: string | null;
  content?: string | null;
}

export interface Content {
  is_there: boolean;
  system_prompt: string | null;
  question: string | null;
  answer: string | null;
  documents: Doc[];
  is_cut: boolean;
}

export interface Said {
  reviewer: string;
  kind: string;
  label: string | null;
  comment: string | null;
  flagged: boolean;
}

export interface Item {
  item: string;
  metric: string;
  trace_id: string;
  span_id: string | null;
  state: string;
  content: Content;
  /** What others said, of an item that waits for a decision between them. */
  answers?: Said[];
}

export interface Counts {
  drawn: number;
  open: number;
  adjudicate: number;
  final: number;
  mine: number;
}

export interface Given {
  metric: string;
  reviewer: string;
  question: string;
  labels: string[];
  reviews_per_item: number;
  items: Item[];
  counts: Counts;
  own: { answered: number; with_label: number; agreed: number };
  why_none: string | null;
}

export interface Told {
  item: string;
  state: string;
  label: string | null;
  evaluator: { evaluator: string; value: number | null; passed: boolean | null };
  answers: Said[];
}

export interface Draft {
  label: string;
  comment: string;
  flagged: boolean;
}

export const EMPTY: Draft = { label: "", comment: "", flagged: false };

export type Kind = "answer" | "skip" | "undo";

/** An answer as the server takes it. */
export interface Sent {
  annotation_id: string;
  item: string;
  name: string;
  kind: Kind;
  label?: string;
  comment?: string;
  flagged?: boolean;
  seconds?: number;
  annotator?: string;
}

/** The items at hand with those that came, each once, without those that are answered. */
export function dealt<I extends { item: string }>(deck: readonly I[], came: readonly I[], done: ReadonlySet<string>): I[] {
  const there = new Set(deck.map((item) => item.item));
  return [...deck, ...came.filter((item) => !there.has(item.item))].filter((item) => !done.has(item.item));
}

/** The place after a step, within the items at hand. */
export function walked(at: number, by: number, length: number): number {
  return Math.max(0, Math.min(length - 1, at + by));
}

/** 128 random bits: an answer that is sent twice is one answer. */
export function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function answerOf(item: Item, kind: Kind, draft: Draft, who: string, seconds: number): Sent {
  const comment = draft.comment.trim();
  return {
    annotation_id: newId(), item: item.item, name: item.metric, kind,
    ...(kind === "answer" ? { label: draft.label, seconds } : {}),
    ...(comment && kind !== "undo" ? { comment } : {}),
    ...(draft.flagged && kind !== "undo" ? { flagged: true } : {}),
    ...(who ? { annotator: who } : {}),
  };
}

/** Answers an hour, by the last twenty; too few say nothing. */
export function pace(times: readonly number[], now: number): number | undefined {
  const last = times.slice(-20);
  const first = last[0];
  if (first === undefined || last.length < 3 || now <= first) return undefined;
  return Math.round((last.length / (now - first)) * 3_600_000);
}

/** Answers that differ come first. */
export function sideBySide(answers: readonly Said[]): Said[] {
  const votes = answers.filter((said) => said.kind === "answer");
  const times = (label: string | null) => votes.filter((said) => said.label === label).length;
  return [...votes].sort((a, b) => times(a.label) - times(b.label));
}
