import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { finalText, finalUntil, openFrom } = await load("src/lib/final.ts");
const table = (final_until) => ({ columns: [], data: [], rows: 0, elapsed_ms: 1, at: 0, final_until });

test("what is final is what the answer says, and not the queue", () => {
  assert.equal(finalUntil(table("2026-11-27T03:44:26.568919Z")), Date.parse("2026-11-27T03:44:26.568Z"));
  for (const unknown of [table(null), table(undefined), table("soon"), undefined]) assert.equal(finalUntil(unknown), undefined);
});

test("a bucket is open until its end is final", () => {
  const span = { from: 1000, to: 9000 };
  assert.equal(openFrom(5500, span, 1000), 5000);
  assert.equal(openFrom(6000, span, 1000), 6000, "the bucket before ends there");
  assert.equal(openFrom(500, span, 1000), 1000, "nothing shown is final");
  assert.equal(openFrom(undefined, span, 1000), 1000, "nothing is known");
  assert.equal(openFrom(9000, span, 1000), undefined);
});

test("what numbers wait for is said where it is more than what senders hold back", () => {
  const of = (until, waits) => finalText(until, { from: 0, to: 10 }, waits, (ms) => `t${ms}`);
  assert.deepEqual(of(5, "senders"), { text: "Final until t5", late: false });
  assert.deepEqual(of(5, "queue: slow"), { text: "Final until t5, waits for queue: slow", late: true });
  assert.deepEqual(of(10, "queue: slow"), { text: "Final", late: false });
  assert.equal(of(undefined, "").late, false);
});
