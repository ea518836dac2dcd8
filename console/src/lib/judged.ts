// Which texts a score of a span is about. The server chooses them when it judges (answer of the span, else of the last call
// of a model; documents that were reranked, else retrieved, else what tools answered); here the same is chosen again, so that
// ranges of the evidence find their text. A range that does not fit its text is not shown.
import type { Row } from "./api";
import { nanos, numberOf } from "./format";
import { json } from "./text";

export interface Document {
  id: string;
  content: string;
}

export interface Judged {
  /** The answer, or what may be the answer, the likeliest first. */
  answers: string[];
  documents: Document[];
}

/** Spans that can have what an answer rests on. */
const SOURCES = new Set(["reranker", "retrieval", "tool"]);
/** Most documents that the server reads. */
const MOST = 64;

function endOf(row: Row): bigint {
  return (nanos(String(row.start_time ?? "")) ?? 0n) + BigInt(Math.round(numberOf(row.duration_ns) ?? 0));
}

const textIn = (row: Row | undefined): string => (typeof row?.answer === "string" ? row.answer : "");

/** Of the spans of a trace in the order of their start; each with answer and documents where it has them. */
export function judgedOf(spans: readonly Row[], span: string): Judged {
  const own = spans.find((row) => row.span_id === span);
  const calls = spans.filter((row) => row.operation === "llm" && row.status_code !== "error" && textIn(row) !== "");
  const model = calls.reduce<Row | undefined>((last, row) => (last === undefined || endOf(row) >= endOf(last) ? row : last), undefined);
  const last = [...spans].reverse().find((row) => textIn(row) !== "");
  const order = own?.operation === "other" ? [model, own, last] : [own, model, last];
  const answers = [...new Set(order.map(textIn))].filter((text) => text !== "");
  const sources = spans.filter((row) => SOURCES.has(String(row.operation)));
  const before = own === undefined ? sources : sources.filter((row) => row === own || endOf(row) <= endOf(own));
  return { answers, documents: documentsOf(before) };
}

/** Each text once, as the server numbers them. Where a source's documents are not known, none are: numbers would be wrong. */
function documentsOf(spans: readonly Row[]): Document[] {
  for (const operation of ["reranker", "retrieval"]) {
    const sources = spans.filter((row) => row.operation === operation);
    if (sources.some((row) => row.documents === undefined)) return [];
    const all = sources.flatMap((row) => {
      const list = json(row.documents);
      return Array.isArray(list) ? (list as Array<{ id?: unknown; content?: unknown } | null>) : [];
    });
    const each = unique(all.map((doc) => [typeof doc?.content === "string" ? doc.content : undefined, typeof doc?.id === "string" ? doc.id : ""] as const));
    if (each.some(([content]) => content !== undefined)) return each.map(([content = "", id]) => ({ id, content }));
  }
  const tools = spans.filter((row) => row.operation === "tool" && row.status_code !== "error" && textIn(row) !== "");
  return unique(tools.map((row) => [textIn(row), String(row.span_id)] as const)).map(([content = "", id]) => ({ id, content }));
}

type Told = readonly [string | undefined, string];

function unique(all: Told[]): Told[] {
  const seen = new Set<string>();
  const fresh = ([content, id]: Told) => {
    const key = content ?? id;
    return seen.has(key) ? false : Boolean(seen.add(key));
  };
  return all.filter(fresh).slice(0, MOST);
}
