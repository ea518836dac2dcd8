import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { graph, step } = await load("src/lib/graph.ts");
const span = (span_id, parent_span_id, operation = "tool", more = {}) => ({ span_id, parent_span_id, operation, name: span_id, status_code: "ok", ...more });
const ids = (drawn) => drawn.nodes.map((node) => `${node.depth}${node.span.span_id}`);

test("plain spans are left out, and what they called hangs from the span before them", () => {
  const rows = [span("a", null, "agent"), span("p", "a", "unknown"), span("q", "p", "unknown"), span("t", "q"), span("l", "a", "llm")];
  const drawn = graph(rows, new Set());
  assert.deepEqual(ids(drawn), ["0a", "1t", "1l"]);
  assert.deepEqual([drawn.plain, drawn.beyond], [2, 0]);
  assert.deepEqual(ids(graph(rows, new Set(["p"]))), ["0a", "1p", "2t", "1l"], "a kept one is there");
  const plain = [span("p", null, "unknown"), span("q", "p", "unknown")];
  assert.deepEqual(ids(graph(plain, new Set())), ["0p", "1q"], "a trace of plain spans is shown as it is");
  assert.deepEqual(ids(graph([...rows, span("e", "a", "unknown", { status_code: "error" })], new Set())), ["0a", "1t", "1l", "1e"]);
});

test("boxes do not overlap, and a caller stands in the middle of what it calls", () => {
  const rows = [span("a", null), ...Array.from({ length: 40 }, (_, n) => span(`b${n}`, n < 8 ? "a" : `b${n % 8}`))];
  const { nodes, width, height } = graph(rows, new Set());
  const places = new Set(nodes.map((node) => `${node.x} ${node.y}`));
  assert.equal(places.size, 41);
  for (const node of nodes) {
    assert.ok(node.x + 196 <= width && node.y + 48 <= height);
    const below = node.children.map((child) => nodes[child].y);
    if (below.length > 0) assert.equal(node.y, (Math.min(...below) + Math.max(...below)) / 2);
    for (const other of nodes) if (other !== node && other.x === node.x) assert.ok(Math.abs(other.y - node.y) >= 60);
  }
});

test("the limit keeps the top and what must be there", () => {
  const chain = Array.from({ length: 20_000 }, (_, n) => span(`s${n}`, n === 0 ? null : `s${n - 1}`));
  assert.equal(graph(chain, new Set()).nodes.length, 300);
  const wide = [span("a", null), ...Array.from({ length: 900 }, (_, n) => span(`b${n}`, "a")), span("deep", "b899")];
  const drawn = graph(wide, new Set(["deep"]));
  assert.equal(drawn.nodes.length, 300);
  assert.equal(drawn.beyond, 602);
  assert.ok(drawn.nodes.some((node) => node.span.span_id === "deep" && node.depth === 2));
});

test("rings and missing parents become roots", () => {
  const rows = [span("a", "b"), span("b", "a"), span("c", "gone"), span("d", "d")];
  assert.deepEqual(ids(graph(rows, new Set())), ["0c", "0d", "0a", "1b"]);
  const through = [span("x", "p"), span("p", "q", "unknown"), span("q", "p", "unknown")];
  assert.deepEqual(ids(graph(through, new Set())), ["0x"]);
});

test("arrow keys walk along the edges and within a column", () => {
  const { nodes } = graph([span("a", null), span("b", "a"), span("c", "b"), span("d", "a"), span("e", "d")], new Set());
  const go = (at, key) => nodes[step(nodes, at, key)].span.span_id;
  assert.equal(go(0, "ArrowRight"), "b");
  assert.equal(go(1, "ArrowDown"), "d");
  assert.equal(go(2, "ArrowDown"), "e");
  assert.equal(go(4, "ArrowLeft"), "d");
  assert.equal(go(0, "ArrowUp"), "a");
  assert.equal(go(0, "End"), "e");
});
