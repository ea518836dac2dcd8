// Statements stand in sql/C*.sql with parameters by name. Values are bound ($1, $2 …) and never become SQL text; only the
// explorer's filter does, and it is checked first (filter.ts).

export type Value = string | number | boolean | null;

export interface Bound {
  query: string;
  params: Value[];
  /** The same with the values written out, for people to read and to paste elsewhere. */
  shown: string;
}

export function literal(value: Value): string {
  if (value === null) return "NULL";
  if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
  if (typeof value === "number") return String(value);
  return `'${value.replace(/'/g, "''")}'`;
}

/**
 * Binds the statement. `raw` gives the texts that stand for a part of SQL, such as the filter.
 * @throws Error where a name has no value: a statement and its page do not fit.
 */
export function bind(text: string, values: Record<string, Value>, raw: Record<string, string> = {}): Bound {
  const statement = text.replace(/^--.*$/gm, "").trim().replace(/;$/, "");
  const names: string[] = [];
  const pattern = /\$([a-z_]+)/g;
  const query = statement.replace(pattern, (_, name: string) => {
    if (name in raw) return raw[name] as string;
    if (!(name in values)) throw new Error(`the statement needs a value for $${name}`);
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  const shown = statement.replace(pattern, (_, name: string) =>
    name in raw ? (raw[name] as string) : literal(values[name] as Value));
  return { query, params: names.map((name) => values[name] as Value), shown };
}

export function plain(query: string): Bound {
  return { query, params: [], shown: query };
}
