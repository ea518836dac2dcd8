import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { modelsOf, waterfall } = await load("src/lib/waterfall.ts");
const none = new Set();
const T0 = "2026-11-21T09:00:00";

function span(id, parent, start, duration, name = id) {
  return { span_id: id, parent_span_id: parent, name, operation: "llm", start_time: `${T0}.${String(start).padStart(9, "0")}Z`, duration_ns: duration };
}

const ids = (result) => result.nodes.map((node) => `${node.depth}${node.span.span_id}`);

test("children follow their parent, in the order they came", () => {
  const rows = [span("a", null, 0, 100), span("b", "a", 10, 20), span("c", "b", 12, 5), span("d", "a", 50, 50)];
  const result = waterfall(rows, none, none);
  assert.deepEqual(ids(result), ["0a", "1b", "2c", "1d"]);
  assert.equal(result.total, 100);
  assert.deepEqual([result.nodes[3].left, result.nodes[3].width], [0.5, 0.5]);
  assert.deepEqual(ids(waterfall(rows, new Set(["b"]), none)), ["0a", "1b", "1d"]);
});

test("a parent that was not received makes a marked root; an early child is marked", () => {
  const result = waterfall([span("a", "gone", 10, 10), span("b", "a", 5, 2)], none, none);
  assert.deepEqual(ids(result), ["0a", "1b"]);
  assert.deepEqual([result.nodes[0].orphan, result.nodes[1].orphan, result.nodes[1].early], [true, false, true]);
});

test("rings of parents are shown once and end", () => {
  const result = waterfall([span("a", "b", 0, 1), span("b", "a", 1, 1), span("c", "c", 2, 1)], none, none);
  assert.deepEqual(ids(result).sort(), ["0a", "0c", "1b"]);
});

test("many siblings of one name become one row that opens", () => {
  const rows = [span("r", null, 0, 1000), ...Array.from({ length: 300 }, (_, at) => span(`s${at}`, "r", at, 1, "embed"))];
  const result = waterfall(rows, none, none);
  assert.deepEqual([result.nodes.length, result.nodes[1].group], [2, 300]);
  assert.equal(waterfall(rows, none, new Set(["r embed"])).nodes.length, 301);
});

test("a chain of 20,000 spans is laid out without recursion", () => {
  const rows = Array.from({ length: 20_000 }, (_, at) => span(`s${at}`, at === 0 ? null : `s${at - 1}`, at, 1));
  const before = performance.now();
  const result = waterfall(rows, none, none);
  assert.equal(result.nodes[19_999].depth, 19_999);
  assert.ok(performance.now() - before < 5000);
});

test("spans without a time or a duration are drawn", () => {
  const result = waterfall([{ ...span("a", null, 0, 1), duration_ns: null, start_time: "never" }], none, none);
  assert.deepEqual([result.nodes[0].left, result.nodes[0].width], [0, 0]);
});

test("the model that answered last stands first, whatever was embedded or asked before it", () => {
  const call = (operation, request_model, start, duration_ns) => ({ span_id: request_model, operation, request_model, start_time: `2026-11-21T09:00:0${start}Z`, duration_ns });
  assert.deepEqual(modelsOf([call("embedding", "embed", 0, 1e9), call("llm", "early", 1, 1), call("llm", "answers", 2, 3e9), call("llm", "inner", 3, 1), call("tool", null, 4, 1)]), ["answers", "embed", "early", "inner"]);
  assert.deepEqual(modelsOf([call("embedding", "embed", 0, 1)]), ["embed"]);
  assert.deepEqual(modelsOf([]), []);
});
