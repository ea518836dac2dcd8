// The explorer's filter is one SQL expression. It stands between parentheses in the statement, so it must not be able to
// leave them: brackets are closed, quotes are closed, and there is neither a comment nor a second statement in it.

export interface Wrong {
  at: number;
  why: string;
}

/** Why the text cannot be one expression; undefined where it can. The server judges the rest. */
export function faultOf(text: string): Wrong | undefined {
  const open: Array<[string, number]> = [];
  let at = 0;
  while (at < text.length) {
    const char = text[at] as string;
    if (char === "'" || char === '"') {
      const end = closing(text, at);
      if (end < 0) return { at, why: `the quote ${char} is not closed` };
      at = end + 1;
      continue;
    }
    const wrong = bracket(open, char, at) ?? forbidden(text, at);
    if (wrong) return wrong;
    at += 1;
  }
  const last = open[open.length - 1];
  return last ? { at: last[1], why: `the bracket ${last[0]} is not closed` } : undefined;
}

function closing(text: string, start: number): number {
  const quote = text[start] as string;
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] !== quote) continue;
    if (text[at + 1] !== quote) return at;
    at += 1;
  }
  return -1;
}

const CLOSES: Record<string, string> = { ")": "(", "]": "[" };

function bracket(open: Array<[string, number]>, char: string, at: number): Wrong | undefined {
  if (char === "(" || char === "[") open.push([char, at]);
  const opener = CLOSES[char];
  if (opener === undefined) return undefined;
  return open.pop()?.[0] === opener ? undefined : { at, why: `the bracket ${char} closes nothing` };
}

function forbidden(text: string, at: number): Wrong | undefined {
  const two = text.slice(at, at + 2);
  if (text[at] === ";") return { at, why: "one expression only, without a semicolon" };
  if (two === "--" || two === "/*") return { at, why: "a filter has no comments" };
  // A dollar sign may start a parameter or a quoted text that ends elsewhere.
  if (text[at] === "$") return { at, why: "write texts in single quotes; $ has no meaning here" };
  return undefined;
}

export function quoted(text: string): string {
  return `'${text.replace(/'/g, "''")}'`;
}

/** A condition for one value of a column, as a facet writes it. */
export function condition(column: string, value: string | null, include: boolean): string {
  if (value === null) return `${column} IS ${include ? "" : "NOT "}NULL`;
  return include ? `${column} = ${quoted(value)}` : `${column} IS DISTINCT FROM ${quoted(value)}`;
}

/** The filter with one more condition. An OR at the top is put in parentheses first. */
export function withCondition(filter: string, more: string): string {
  const trimmed = filter.trim();
  if (trimmed === "") return more;
  if (parts(trimmed).includes(more)) return trimmed;
  return `${hasOr(trimmed) ? `(${trimmed})` : trimmed} AND ${more}`;
}

/** The filter without its last condition; empty where it was the only one. */
export function withoutLast(filter: string): string {
  const all = parts(filter.trim());
  return all.slice(0, -1).join(" AND ");
}

export function parts(filter: string): string[] {
  return split(filter, "AND");
}

function hasOr(filter: string): boolean {
  return split(filter, "OR").length > 1;
}

/** Splits at a word that stands outside of quotes, of brackets and of CASE … END. BETWEEN keeps its AND. */
function split(filter: string, word: string): string[] {
  const found: string[] = [];
  let [depth, start, between] = [0, 0, false];
  for (let at = 0; at < filter.length; at++) {
    const char = filter[at] as string;
    if (char === "'" || char === '"') {
      const end = closing(filter, at);
      if (end < 0) break;
      at = end;
      continue;
    }
    if (char === "(" || char === "[") depth += 1;
    if (char === ")" || char === "]") depth -= 1;
    if (at > 0 && /[\w.]/.test(filter[at - 1] as string)) continue;
    const here = /^[a-z]\w*/i.exec(filter.slice(at, at + 10))?.[0].toUpperCase();
    if (here === "CASE") depth += 1;
    if (here === "END") depth -= 1;
    if (depth !== 0) continue;
    if (here === "BETWEEN") between = true;
    if (here !== word) continue;
    if (word === "AND" && between) {
      between = false;
      continue;
    }
    found.push(filter.slice(start, at).trim());
    start = at + word.length;
  }
  found.push(filter.slice(start).trim());
  return found.filter((part) => part !== "");
}
