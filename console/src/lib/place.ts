// Where in a query a fault is, as far as the server's sentence tells: by line and column, else by the name that it does not know.

/** The part of the query that is meant, UTF-16 units; undefined where nothing tells it. */
export function placeOf(query: string, message: string): [number, number] | undefined {
  const told = /\bat Line: (\d+), Column: (\d+)/.exec(message);
  if (told) return atPlace(query, Number(told[1]), Number(told[2]));
  const name = /No field named "?([^\s"]+)|Invalid function '([^']+)'|[Tt]able '?"?([^\s'"]+?)"?'? (?:not found|does not exist)/.exec(message);
  return name ? named(query, String(name[1] ?? name[2] ?? name[3]).replace(/\.$/, "")) : undefined;
}

function atPlace(query: string, line: number, column: number): [number, number] | undefined {
  const lines = query.split("\n");
  const own = lines[line - 1];
  if (own === undefined || column < 1 || column > own.length) return undefined;
  const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
  const word = /^(?:[\w$]+|[^\w\s])/.exec(query.slice(start))?.[0] ?? "";
  return word === "" ? undefined : [start, start + word.length];
}

/** The first place of the name as a word of its own, outside of texts; of `a.b` the whole or its last part. */
function named(query: string, name: string): [number, number] | undefined {
  const blind = query.replace(/'(?:[^']|'')*'/g, (text) => " ".repeat(text.length));
  for (const wanted of [name, name.split(".").pop() ?? ""]) {
    const pattern = wanted.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    const found = wanted === "" ? null : new RegExp(`(?<![\\w$])${pattern}(?![\\w$])`, "i").exec(blind);
    if (found) return [found.index, found.index + wanted.length];
  }
  return undefined;
}

/** The lines around the place, in three pieces. */
export function around(query: string, [from, to]: [number, number]): [string, string, string] {
  const start = query.lastIndexOf("\n", from - 1) + 1;
  const end = query.indexOf("\n", to);
  return [query.slice(start, from), query.slice(from, to), query.slice(to, end < 0 ? query.length : end)];
}
