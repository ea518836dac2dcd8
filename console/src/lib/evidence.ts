// What a rationale points at: the sentence of the answer and the sentence of a document. Evaluators write both in quotes;
// where the text cannot be found, nothing is underlined.

export interface Evidence {
  sentence: string;
  /** The document's number, from 1; 0 where none is named. */
  document: number;
  documentId: string;
  quote: string;
}

/** A quoted text from `start`: up to a quote that ends the sentence or a bracket that follows it. */
function quotedAfter(text: string, start: number): string {
  const open = text.indexOf('"', start);
  if (open < 0) return "";
  const rest = text.slice(open + 1);
  const end = /"(?=\s*[.(,;]|\s*$)/.exec(rest);
  return end ? rest.slice(0, end.index) : "";
}

export function evidenceOf(rationale: unknown): Evidence | undefined {
  if (typeof rationale !== "string") return undefined;
  const first = /^(?:(?:Least (?:supported|grounded)|Unsupported) sentence: |The context (?:contradicts|does not say) )/i.exec(rationale);
  if (!first) return undefined;
  const sentence = quotedAfter(rationale, first[0].length - 1);
  const place = /in document (\d+)(?: \(([^)]*)\))?:/.exec(rationale);
  const quote = place ? quotedAfter(rationale, place.index + place[0].length) : "";
  if (sentence === "" && quote === "") return undefined;
  return { sentence, document: place ? Number(place[1]) : 0, documentId: place?.[2] ?? "", quote };
}

export interface Piece {
  text: string;
  marked: boolean;
}

/** The text in pieces, what equals the sentence marked; white space may differ, and "…" stands for what was left out. */
export function marked(text: string, sentence: string): Piece[] {
  const words = sentence.replace(/…$/, "").trim().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return [{ text, marked: false }];
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("\\s+");
  const found = new RegExp(pattern).exec(text);
  if (!found) return [{ text, marked: false }];
  const end = found.index + found[0].length;
  return [
    { text: text.slice(0, found.index), marked: false },
    { text: found[0], marked: true },
    { text: text.slice(end), marked: false },
  ].filter((piece) => piece.text !== "");
}
