// A trace as a graph: what an agent did, from left to right, calls in the order of time from above. Plain spans, which say
// nothing of agents, models or tools, are left out, and what they called hangs from the span before them.
import { KINDS } from "./kinds";
import type { SpanRow } from "./waterfall";

export interface GraphNode {
  span: SpanRow;
  depth: number;
  /** Pixels of the upper left corner. */
  x: number;
  y: number;
  /** Indices among the nodes; -1 for a root. */
  parent: number;
  children: number[];
}

export interface Graph {
  /** In the order of a walk through the tree. */
  nodes: GraphNode[];
  width: number;
  height: number;
  /** Spans that would be nodes, but are beyond the limit. */
  beyond: number;
  /** Plain spans that are left out. */
  plain: number;
}

export const BOX = { width: 196, height: 48, across: 40, down: 12, edge: 12 };

/** More boxes than these are no picture any more. */
export const MOST = 300;

/** `kept` holds span ids that are shown whatever they are, such as the selected one and those with scores that failed. */
export function graph(rows: readonly SpanRow[], kept: ReadonlySet<string>, most = MOST): Graph {
  const shown = worthy(rows, kept);
  const tree = linked(rows, shown);
  const chosen = bounded(tree, rows, kept, most);
  const nodes = walked(tree, chosen);
  place(nodes);
  const right = nodes.reduce((far, node) => Math.max(far, node.x), 0);
  const low = nodes.reduce((far, node) => Math.max(far, node.y), 0);
  return {
    nodes, width: right + BOX.width + BOX.edge, height: low + BOX.height + BOX.edge,
    beyond: shown.size - nodes.length, plain: rows.length - shown.size,
  };
}

function worthy(rows: readonly SpanRow[], kept: ReadonlySet<string>): Set<string> {
  const isKnown = (row: SpanRow) => Object.hasOwn(KINDS, row.operation);
  // A trace of plain spans alone is shown as it is.
  const all = !rows.some(isKnown);
  const found = rows.filter((row) => all || isKnown(row) || row.status_code === "error" || kept.has(row.span_id));
  return new Set(found.map((row) => row.span_id));
}

interface Tree {
  byId: Map<string, SpanRow>;
  parent: Map<string, string>;
  /** Span ids in the order of time. */
  children: Map<string, string[]>;
  roots: string[];
}

/** Each shown span hangs from the nearest one above it that is shown. */
function linked(rows: readonly SpanRow[], shown: ReadonlySet<string>): Tree {
  const byId = new Map(rows.map((row) => [row.span_id, row]));
  const above = nearest(rows, byId, shown);
  const tree: Tree = { byId, parent: new Map(), children: new Map(), roots: [] };
  for (const { span_id: id } of rows) {
    if (!shown.has(id)) continue;
    const parent = above.get(id);
    if (parent === undefined) tree.roots.push(id);
    else {
      tree.parent.set(id, parent);
      const list = tree.children.get(parent);
      if (list) list.push(id);
      else tree.children.set(parent, [id]);
    }
  }
  unring(tree, rows, shown);
  return tree;
}

/** The nearest shown span above each; every step is taken once, so a long chain costs no more than its length. */
function nearest(rows: readonly SpanRow[], byId: Map<string, SpanRow>, shown: ReadonlySet<string>): Map<string, string | undefined> {
  const above = new Map<string, string | undefined>();
  for (const row of rows) {
    const path: string[] = [];
    const on = new Set<string>();
    let at: SpanRow | undefined = row;
    let found: string | undefined;
    while (at && !on.has(at.span_id)) {
      if (above.has(at.span_id)) {
        found = above.get(at.span_id);
        break;
      }
      path.push(at.span_id);
      on.add(at.span_id);
      const parent: string = at.parent_span_id ?? "";
      if (parent !== at.span_id && shown.has(parent)) {
        found = parent;
        break;
      }
      at = byId.get(parent);
    }
    for (const id of path) above.set(id, found);
  }
  return above;
}

/** Spans that are each other's parents hang from no root: the first of each ring becomes one. */
function unring(tree: Tree, rows: readonly SpanRow[], shown: ReadonlySet<string>): void {
  const reached = new Set<string>();
  const reach = (root: string) => {
    const queue = [root];
    for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
      if (reached.has(id)) continue;
      reached.add(id);
      queue.push(...(tree.children.get(id) ?? []));
    }
  };
  tree.roots.forEach(reach);
  for (const { span_id: id } of rows) {
    if (!shown.has(id) || reached.has(id)) continue;
    const before = tree.children.get(tree.parent.get(id) ?? "");
    before?.splice(before.indexOf(id), 1);
    tree.parent.delete(id);
    tree.roots.push(id);
    reach(id);
  }
}

/** At most so many: first what must be there with all above it, then from the top, level by level. */
function bounded(tree: Tree, rows: readonly SpanRow[], kept: ReadonlySet<string>, most: number): Set<string> {
  const chosen = new Set<string>();
  for (const { span_id } of rows) {
    if (!kept.has(span_id)) continue;
    const path: string[] = [];
    for (let id: string | undefined = span_id; id !== undefined && !chosen.has(id); id = tree.parent.get(id)) path.push(id);
    if (chosen.size + path.length <= most) for (const id of path) chosen.add(id);
  }
  let level = tree.roots;
  while (level.length > 0 && chosen.size < most) {
    const next: string[] = [];
    for (const id of level) {
      if (chosen.size >= most && !chosen.has(id)) continue;
      chosen.add(id);
      next.push(...(tree.children.get(id) ?? []));
    }
    level = next;
  }
  return chosen;
}

/** Depth first without recursion. */
function walked(tree: Tree, chosen: ReadonlySet<string>): GraphNode[] {
  const nodes: GraphNode[] = [];
  const stack = tree.roots.filter((id) => chosen.has(id)).reverse().map((id) => ({ id, depth: 0, parent: -1 }));
  for (let top = stack.pop(); top; top = stack.pop()) {
    const { id, depth, parent } = top;
    const at = nodes.length;
    nodes.push({ span: tree.byId.get(id) as SpanRow, depth, parent, children: [], x: 0, y: 0 });
    nodes[parent]?.children.push(at);
    for (const child of [...(tree.children.get(id) ?? [])].reverse()) if (chosen.has(child)) stack.push({ id: child, depth: depth + 1, parent: at });
  }
  return nodes;
}

/** Leaves stand below each other, a caller in the middle of what it calls. */
function place(nodes: GraphNode[]): void {
  let lines = 0;
  for (const node of nodes) {
    node.x = BOX.edge + node.depth * (BOX.width + BOX.across);
    if (node.children.length === 0) node.y = BOX.edge + lines++ * (BOX.height + BOX.down);
  }
  // Children come behind their parent: from the end on, they stand before it is placed.
  for (let at = nodes.length - 1; at >= 0; at--) {
    const node = nodes[at] as GraphNode;
    const [first, last] = [nodes[node.children[0] ?? -1], nodes[node.children[node.children.length - 1] ?? -1]];
    if (first && last) node.y = (first.y + last.y) / 2;
  }
}

/** Where an arrow key leads: along the edges, and up and down within a column. */
export function step(nodes: readonly GraphNode[], at: number, key: string): number {
  const node = nodes[at];
  if (!node) return nodes.length > 0 ? 0 : -1;
  const column = nodes.map((each, index) => ({ each, index })).filter(({ each }) => each.depth === node.depth);
  const place = column.findIndex(({ index }) => index === at);
  if (key === "ArrowLeft") return node.parent >= 0 ? node.parent : at;
  if (key === "ArrowRight") return node.children[0] ?? at;
  if (key === "ArrowDown") return column[place + 1]?.index ?? at;
  if (key === "ArrowUp") return column[place - 1]?.index ?? at;
  if (key === "Home") return 0;
  return key === "End" ? nodes.length - 1 : at;
}
