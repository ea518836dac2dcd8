// Which score of a span is looked at first, and where the time of a trace went.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { worstFirst } = await load("src/lib/worst.ts");
const { longestOf } = await load("src/lib/waterfall.ts");

test("what failed comes first, the widest miss before the others", () => {
  const row = (metric, status, passed, value, threshold) => ({ metric, status, passed, value, threshold });
  const rows = [
    row("passes", "ok", true, 0.9, 0.1), row("narrow", "ok", false, 0.5, 0.55), row("skipped", "skipped", null, null, null), row("wide", "ok", false, 0.05, 0.44),
    row("without a line", "ok", false, 1, null), row("too many", "ok", false, 3, 0), row("too long", "ok", false, 120, 100),
  ];
  assert.deepEqual(worstFirst(rows).map(({ metric }) => metric), ["too many", "wide", "too long", "narrow", "without a line", "passes", "skipped"]);
  assert.equal(rows[0].metric, "passes", "what is given stays as it is");
});

test("the longest step is one without children", () => {
  const span = (span_id, parent_span_id, duration_ns) => ({ span_id, parent_span_id, duration_ns, start_time: "2026-01-01T00:00:00Z" });
  assert.equal(longestOf([span("root", null, 100), span("a", "root", "90"), span("b", "a", 30), span("c", "root", 40), span("d", "root", null)]).span_id, "c");
  assert.equal(longestOf([span("alone", "elsewhere", 5)]).span_id, "alone");
  assert.equal(longestOf([]), undefined);
});
