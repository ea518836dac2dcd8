// A query over the scores of an evaluator, for the SQL page: what the numbers of a table count, with its traces.
import { condition, quoted } from "./filter";

export interface Scored {
  evaluator: string;
  version: string | null;
  from: string;
  to: string;
}

/** `columns` stand beside when and where; `more` are conditions; the rows with the largest `order` come first. */
export function scoreQuery({ evaluator, version, from, to }: Scored, columns: string, more: string[], order: string): string {
  const all = [`evaluator = ${quoted(evaluator)}`, condition("evaluator_version", version, true), ...more, `evaluated_at >= '${from}'`, `evaluated_at < '${to}'`];
  return `SELECT evaluated_at, trace_id, span_id, metric, ${columns} FROM scores\nWHERE ${all.join(" AND ")}\nORDER BY ${order} DESC LIMIT 200`;
}
