// The table of the first page: which rows are shown and in which order, as the address says it.
import type { Row } from "./api";
import { changeOf } from "./change";
import { numberOf } from "./format";

const ofNow = (row: Row) => ({ estimate: numberOf(row.estimate), lower: numberOf(row.lower), upper: numberOf(row.upper), n: numberOf(row.n) });
const ofBefore = (row: Row) => ({ estimate: numberOf(row.before), lower: numberOf(row.before_lower), upper: numberOf(row.before_upper), n: numberOf(row.before_n) });

export function changeIn(row: Row) {
  return { ...changeOf(ofNow(row), ofBefore(row)), now: ofNow(row), before: ofBefore(row) };
}

/** What the smallest comes first by; a text by its letters. */
type By = (row: Row) => number | string;

const most = (column: string): By => (row) => -(numberOf(row[column]) ?? 0);
const text = (...columns: string[]): By => (row) => columns.map((column) => String(row[column] ?? "")).join("\n");

/** Orders by their names in the address, and what they are called. Without a name rows stay as the server has them: the worst first. */
export const ORDERS: Readonly<Record<string, readonly [says: string, by: By]>> = {
  change: ["what became worse first", (row) => {
    const change = changeIn(row);
    return change.kind === "changed" ? change.by : 1;
  }],
  errors: ["most errors first", most("errors")],
  skipped: ["most skipped first", most("skipped")],
  service: ["by service", text("service_name", "request_model", "metric")],
  metric: ["by metric", text("metric", "service_name", "request_model")],
};

/** The rows that contain `find` in one of their names, in the order of that name. Rows that tie keep theirs. */
export function rowsIn(rows: readonly Row[], find: string, order: string): Row[] {
  const wanted = find.trim().toLowerCase();
  const found = rows.filter((row) => wanted === "" || [row.service_name, row.request_model, row.evaluator, row.metric].join(" ").toLowerCase().includes(wanted));
  const by = Object.hasOwn(ORDERS, order) ? ORDERS[order]?.[1] : undefined;
  if (!by) return found;
  const placed = found.map((row) => ({ row, key: by(row) }));
  return placed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ row }) => row);
}

/** Most metrics that can be chosen for the charts; C1b answers no more. */
export const MOST_CHOSEN = 12;

/** The metrics that an address chooses for the charts, `one,two`, each once; none stands for the worst six. */
export function chosenOf(text: string): string[] {
  return [...new Set(text.split(",").map((name) => name.trim()))].filter((name) => name !== "").slice(0, MOST_CHOSEN);
}

/** The same as C1b looks for them. */
export function chosenText(chosen: readonly string[]): string {
  return chosen.length === 0 ? "" : `,${chosen.join(",")},`;
}

/** The metrics that can be chosen: those with a verdict in these rows. A comma parts names in the address, so a name with one cannot. */
export function metricsIn(rows: readonly Row[]): string[] {
  const judged = rows.filter((row) => (numberOf(row.n) ?? 0) > 0).map((row) => String(row.metric));
  return [...new Set(judged)].filter((name) => !name.includes(",")).sort();
}
