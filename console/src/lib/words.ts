// What may stand in the quotes that somebody is typing: keys of attributes, values of columns. Asked when it is first wanted.
import { type Table, ask, rowsOf } from "./api";
import { numberOf } from "./format";
import { fixed } from "./range";
import { bind } from "./statement";
import { span, tenant } from "./store";
import C11 from "../../sql/C11.sql";
import C39 from "../../sql/C39.sql";

export interface Word {
  word: string;
  n: number;
}

/** How long an answer is good for, milliseconds. */
const FRESH = 60_000;

let known: { at: number; range: string; words: Promise<Map<string, Word[]>> } | undefined;

function gather(tables: Table[]): Map<string, Word[]> {
  const words = new Map<string, Word[]>();
  for (const row of tables.flatMap(rowsOf)) {
    const word = row.word ?? row.v;
    if (typeof word !== "string" || word === "") continue;
    const place = String(row.place ?? row.facet);
    words.set(place, [...(words.get(place) ?? []), { word, n: numberOf(row.n) ?? 0 }]);
  }
  return words;
}

/** The words that fit there, in the page's time range. */
export async function wordsOf(column: string): Promise<Word[]> {
  const { from, to } = fixed(span.value);
  // A range that follows the clock is another one with each look.
  const range = JSON.stringify([tenant.value, Date.parse(to) - Date.parse(from), Math.floor(Date.parse(to) / FRESH)]);
  if (known === undefined || known.range !== range || Date.now() - known.at > FRESH) {
    const asked = [bind(C39, { from, to }), bind(C11, { from, to }, { where: "true" })].map((bound) => ask(bound));
    known = { at: Date.now(), range, words: Promise.all(asked).then(gather) };
    known.words.catch(() => (known = undefined));
  }
  return (await known.words).get(column) ?? [];
}
