import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { itemOf, namesOf, stepped } = await load("src/lib/items.ts");

const row = (trace, span) => ({ trace_id: trace, span_id: span });

test("an item that two rules have judged stands there twice, and keys walk past it", () => {
  const rows = [row("a", "1"), row("b", "1"), row("b", "1"), row("c", null)];
  const names = namesOf(rows);
  assert.deepEqual(names, ["a.1", "b.1", "b.1.2", "c.null"]);
  assert.equal(itemOf(rows[2]), itemOf(rows[1]), "a mark is about both");
  const walked = [];
  for (let at = ""; walked.length < 4; walked.push(at)) at = stepped(names, at, 1);
  assert.deepEqual(walked, ["b.1", "b.1.2", "c.null", "c.null"]);
  assert.deepEqual([stepped(names, "c.null", -1), stepped(names, "gone", -1), stepped([], "", 1)], ["b.1.2", "a.1", undefined]);
});
