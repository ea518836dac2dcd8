// What failed an answer, and what of the documents comes nearest. The server stores both as ranges in bytes of UTF-8
// (scores.evidence); a browser counts in UTF-16. Rows from before there was that column tell it in their rationale, in quotes.
import type { Row } from "./api";
import type { Judged } from "./judged";
import { json } from "./text";

/** A range of UTF-16 units, the end excluded. */
export type Range = [number, number];

/** Marks for one text; in other texts the parts are looked for. */
export interface Marks {
  /** The text that the ranges are of, or its start; empty where only the parts are known. */
  text: string;
  ranges: Range[];
  parts: string[];
}

export interface Support extends Marks {
  /** The document's number, from 1; 0 where none is named. */
  document: number;
  documentId: string;
}

export interface Evidence {
  claims: Marks;
  supports: Support[];
}

interface Unsupported {
  answer: Range;
  document: number;
  context: Range;
}

const isRange = (value: unknown): value is Range => Array.isArray(value) && value.length === 2 && value.every((at) => Number.isSafeInteger(at) && at >= 0) && value[0] < value[1];

/** The parts that the column tells; what has another shape is left out. */
export function unsupportedOf(column: unknown): Unsupported[] {
  const parsed = json(column);
  if (!Array.isArray(parsed)) return [];
  return (parsed as Array<Partial<Unsupported> | null>).filter((each): each is Unsupported =>
    each !== null && typeof each === "object" && isRange(each.answer) && isRange(each.context) && Number.isSafeInteger(each.document));
}

/** The range in UTF-16 of one in bytes of UTF-8; undefined where the text is shorter, or where a border lies inside of a character. */
export function utf16(text: string, [from, to]: Range): Range | undefined {
  let [byte, start] = [0, -1];
  for (let at = 0; at <= text.length;) {
    if (byte === from) start = at;
    if (byte === to) return start < 0 ? undefined : [start, at];
    if (byte > to || at === text.length) return undefined;
    const code = text.codePointAt(at) as number;
    byte += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    at += code < 0x10000 ? 1 : 2;
  }
  return undefined;
}

/** What the score of a fail points at; undefined where it points at nothing that is known. */
export function evidenceOf(score: Row, judged?: Judged): Evidence | undefined {
  const told = unsupportedOf(score.evidence);
  const old = fromRationale(score.rationale);
  const fitting = (judged?.answers ?? []).map((answer) => claimsOf(answer, told)).filter((claims) => claims.parts.length > 0);
  // Of several answers that have such places, the one that is meant says there what the rationale quotes.
  const claims = fitting.find((each) => each.parts.some((part) => begins(part, old?.claims.parts[0]))) ?? fitting[0];
  if (!claims) return old;
  const supports = supportsOf(told, judged?.documents ?? []);
  return { claims, supports: supports.length > 0 ? supports : (old?.supports ?? []) };
}

function claimsOf(answer: string, told: Unsupported[]): Marks {
  const ranges = told.map((each) => utf16(answer, each.answer)).filter((each): each is Range => each !== undefined);
  return { text: answer, ranges, parts: ranges.map(([from, to]) => answer.slice(from, to)) };
}

/** Whether the part begins with what is quoted of it; white space may differ, and "…" stands for what was left out. */
function begins(part: string, quote: string | undefined): boolean {
  const flat = (text: string) => text.replace(/\s+/g, " ").trim();
  return quote !== undefined && flat(part).startsWith(flat(quote.replace(/…$/, "")));
}

/** Each document once, with all that is marked in it. */
function supportsOf(told: Unsupported[], documents: ReadonlyArray<{ id: string; content: string }>): Support[] {
  const found = new Map<number, Support>();
  for (const { document, context } of told) {
    const known = documents[document];
    const range = known && utf16(known.content, context);
    if (!known || !range) continue;
    const support = found.get(document) ?? { text: known.content, ranges: [], parts: [], document: document + 1, documentId: known.id };
    support.ranges.push(range);
    support.parts.push(known.content.slice(...range));
    found.set(document, support);
  }
  return [...found.values()];
}

/** A quoted text from `start`: up to a quote that ends the sentence or a bracket that follows it. */
function quotedAfter(text: string, start: number): string {
  const open = text.indexOf('"', start);
  if (open < 0) return "";
  const rest = text.slice(open + 1);
  const end = /"(?=\s*[.(,;]|\s*$)/.exec(rest);
  return end ? rest.slice(0, end.index) : "";
}

function fromRationale(rationale: unknown): Evidence | undefined {
  if (typeof rationale !== "string") return undefined;
  const first = /^(?:(?:Least (?:supported|grounded)|Unsupported) sentence: |The context (?:contradicts|does not say) )/i.exec(rationale);
  if (!first) return undefined;
  const sentence = quotedAfter(rationale, first[0].length - 1);
  const place = /in document (\d+)(?: \(([^)]*)\))?:/.exec(rationale);
  const quote = place ? quotedAfter(rationale, place.index + place[0].length) : "";
  if (sentence === "" && quote === "") return undefined;
  const only = (part: string): Marks => ({ text: "", ranges: [], parts: part === "" ? [] : [part] });
  const support = { ...only(quote), document: place ? Number(place[1]) : 0, documentId: place?.[2] ?? "" };
  return { claims: only(sentence), supports: quote === "" ? [] : [support] };
}

/** What of the evidence stands in this document: the one of the same text, else of the same id, else at the same place. */
export function supportIn(evidence: Evidence | undefined, doc: { id?: unknown; content?: unknown }, place: number): Support | undefined {
  return evidence?.supports.find((each) => {
    if (each.text !== "") return each.text === doc.content;
    return each.documentId === "" ? each.document === place : each.documentId === doc.id;
  });
}

export interface Piece {
  text: string;
  marked: boolean;
}

/** Longest text in which parts are looked for, UTF-16 units. */
const SEARCHED = 200_000;

/** The text in pieces, what is meant marked. */
export function marked(text: string, marks: Marks): Piece[] {
  const same = marks.text !== "" && text !== "" && (text.startsWith(marks.text) || marks.text.startsWith(text));
  const ranges = same ? marks.ranges : text.length > SEARCHED ? [] : marks.parts.map((part) => found(text, part)).filter((range) => range !== undefined);
  const pieces: Piece[] = [];
  let at = 0;
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const [start, end] = [Math.max(from, at), Math.min(to, text.length)];
    if (start >= end) continue;
    pieces.push({ text: text.slice(at, start), marked: false }, { text: text.slice(start, end), marked: true });
    at = end;
  }
  pieces.push({ text: text.slice(at), marked: false });
  return pieces.filter((piece) => piece.text !== "");
}

/** Where a part stands; white space may differ, and "…" stands for what was left out. */
function found(text: string, part: string): Range | undefined {
  const words = part.replace(/…$/, "").trim().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return undefined;
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("\\s+");
  const hit = new RegExp(pattern).exec(text);
  return hit ? [hit.index, hit.index + hit[0].length] : undefined;
}
