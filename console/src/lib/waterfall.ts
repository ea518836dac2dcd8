// The rows of a waterfall: the tree in the order of time, each with its depth and its place on the axis. What a trace gets
// wrong is drawn where it claims to be, and marked.
import { nanos, numberOf } from "./format";

export interface SpanRow {
  span_id: string;
  parent_span_id: string | null;
  name: string;
  operation: string;
  service_name: string | null;
  start_time: string;
  duration_ns: number | string | null;
  status_code: string | null;
  request_model: string | null;
  input_tokens: number | null;
  output_tokens: number | null;
  cost_usd: number | null;
}

export interface Node {
  span: SpanRow;
  depth: number;
  /** Direct children that are shown or folded away. */
  children: number;
  folded: boolean;
  /** Shares of the trace's whole time, 0 to 1. */
  left: number;
  width: number;
  /** The parent is named, but not among the spans. */
  orphan: boolean;
  /** Begins before its parent. */
  early: boolean;
  /** How many siblings of the same name stand for by this row; 1 for a span alone. */
  group: number;
}

export interface Waterfall {
  nodes: Node[];
  /** Nanoseconds from the first start to the last end. */
  total: number;
  start: bigint;
}

/** More siblings of one name than this become one row that can be opened. */
const GROUPED = 40;

interface Timed {
  row: SpanRow;
  start: bigint;
  length: number;
}

function timed(rows: SpanRow[]): Timed[] {
  return rows.map((row) => ({ row, start: nanos(row.start_time) ?? 0n, length: Math.max(0, numberOf(row.duration_ns) ?? 0) }));
}

function extent(all: Timed[]): { start: bigint; total: number } {
  const start = all.reduce((least, each) => (each.start < least ? each.start : least), all[0]?.start ?? 0n);
  return { start, total: all.reduce((most, each) => Math.max(most, Number(each.start - start) + each.length), 1) };
}

/** Nanoseconds from the first start to the last end. */
export function lengthOf(rows: SpanRow[]): number {
  return extent(timed(rows)).total;
}

/** The span that took longest of those without children: where the time went. */
export function longestOf(rows: SpanRow[]): SpanRow | undefined {
  const parents = new Set(rows.map((row) => row.parent_span_id));
  const took = (row: SpanRow) => numberOf(row.duration_ns) ?? 0;
  return rows.filter((row) => !parents.has(row.span_id)).reduce<SpanRow | undefined>((best, each) => (best === undefined || took(each) > took(best) ? each : best), undefined);
}

/** The models, the one that answered last first: an embedding that came before it is not what answered. */
export function modelsOf(rows: SpanRow[]): string[] {
  const ends = ({ start, length }: Timed) => start + BigInt(Math.round(length));
  const calls = timed(rows.filter((row) => row.operation === "llm" && row.request_model));
  const last = calls.reduce<Timed | undefined>((best, each) => (best === undefined || ends(each) > ends(best) ? each : best), undefined);
  return [...new Set([last?.row.request_model, ...rows.map((row) => row.request_model)].filter((name): name is string => Boolean(name)))];
}

/** `folded` holds span ids whose children are away; `opened` holds ids of groups that are shown in full. */
export function waterfall(rows: SpanRow[], folded: ReadonlySet<string>, opened: ReadonlySet<string>): Waterfall {
  const all = timed(rows);
  if (all.length === 0) return { nodes: [], total: 0, start: 0n };
  const { start, total } = extent(all);
  const byId = new Map(all.map((each) => [each.row.span_id, each]));
  const children = new Map<string, Timed[]>();
  const roots: Timed[] = [];
  for (const each of all) {
    const parent = each.row.parent_span_id;
    if (parent && parent !== each.row.span_id && byId.has(parent)) {
      const list = children.get(parent);
      if (list) list.push(each);
      else children.set(parent, [each]);
    } else roots.push(each);
  }
  const tree: Tree = { byId, children, folded, opened, start, total, nodes: [], seen: new Set() };
  walk(tree, roots);
  // Spans that are each other's parents hang from no root: the first of each ring becomes one.
  for (const each of all) if (!tree.seen.has(each.row.span_id)) walk(tree, [each]);
  return { nodes: tree.nodes, total, start };
}

interface Tree {
  byId: Map<string, Timed>;
  children: Map<string, Timed[]>;
  folded: ReadonlySet<string>;
  opened: ReadonlySet<string>;
  start: bigint;
  total: number;
  nodes: Node[];
  seen: Set<string>;
}

/** Depth first without recursion: a chain of 20,000 spans must not end the stack. */
function walk(tree: Tree, roots: Timed[]): void {
  const stack: Array<{ each: Timed; depth: number; group: number; hidden: boolean }> = [];
  const push = (list: Timed[], depth: number, hidden: boolean) => {
    for (const { each, group } of grouped(tree, list).reverse()) stack.push({ each, depth, group, hidden });
  };
  push(roots, 0, false);
  for (let top = stack.pop(); top; top = stack.pop()) {
    const { each, depth, group, hidden } = top;
    if (tree.seen.has(each.row.span_id)) continue;
    tree.seen.add(each.row.span_id);
    const below = tree.children.get(each.row.span_id) ?? [];
    const folded = tree.folded.has(each.row.span_id);
    if (!hidden) tree.nodes.push(nodeOf(tree, each, depth, below.length, folded, group));
    push(below, depth + 1, hidden || folded);
  }
}

function grouped(tree: Tree, list: Timed[]): Array<{ each: Timed; group: number }> {
  if (list.length <= GROUPED) return list.map((each) => ({ each, group: 1 }));
  const counts = new Map<string, number>();
  const leaf = (each: Timed) => !tree.children.has(each.row.span_id);
  for (const each of list) if (leaf(each)) counts.set(each.row.name, (counts.get(each.row.name) ?? 0) + 1);
  const shown = new Set<string>();
  const result: Array<{ each: Timed; group: number }> = [];
  for (const each of list) {
    const count = leaf(each) ? (counts.get(each.row.name) ?? 0) : 0;
    const key = groupKey(each.row);
    if (count <= GROUPED || tree.opened.has(key)) result.push({ each, group: 1 });
    else if (!shown.has(each.row.name)) {
      shown.add(each.row.name);
      result.push({ each, group: count });
    } else tree.seen.add(each.row.span_id);
  }
  return result;
}

export function groupKey(row: SpanRow): string {
  return `${row.parent_span_id ?? ""} ${row.name}`;
}

function nodeOf(tree: Tree, each: Timed, depth: number, children: number, folded: boolean, group: number): Node {
  const parent = each.row.parent_span_id ? tree.byId.get(each.row.parent_span_id) : undefined;
  return {
    span: each.row, depth, children, folded, group,
    left: Number(each.start - tree.start) / tree.total,
    width: each.length / tree.total,
    orphan: Boolean(each.row.parent_span_id) && parent === undefined,
    early: parent !== undefined && each.start < parent.start,
  };
}
