import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { answered, asking, isAnswer, questionOf, refused } = await load("src/lib/asked.ts");

const fault = (kind) => ({ kind, message: "no" });
const known = answered(7, "a", "");

test("an old answer stays while the same or something else is asked, but not that of another tenant", () => {
  assert.deepEqual([asking(known, "").data, asking(known, "").busy], [7, true]);
  assert.deepEqual(asking(known, "acme"), { tenant: "acme", busy: true });
  assert.deepEqual(asking({ busy: true }, ""), { tenant: "", busy: true });
});

test("what could not be asked shows no answer to something else", () => {
  assert.deepEqual([refused(known, "a", fault("offline")).data, refused(known, "b", fault("offline")).data], [7, undefined]);
  assert.equal(refused(known, "b", fault("wrong")).data, 7, "a filter that is being written keeps the last rows");
  assert.equal(refused(refused(known, "b", fault("wrong")), "a", fault("busy")).data, 7);
  const first = refused(asking({ busy: true }, ""), "a", fault("limit"));
  assert.deepEqual(first, { tenant: "", fault: fault("limit"), busy: false });
  assert.deepEqual(asking(first, "").fault, fault("limit"), "the fault stands until there is an answer");
});

test("a range that follows the clock asks the same with each look, a fixed one does not", () => {
  const [early, late] = ["2026-01-01T00:00:00.000Z", "2026-01-01T00:05:00.000Z"];
  assert.equal(questionOf("q", [early, "m", 1], "7d"), questionOf("q", [late, "m", 1], "7d"));
  assert.notEqual(questionOf("q", [early, "m", 1], "7d"), questionOf("q", [early, "n", 1], "7d"));
  assert.notEqual(questionOf("q", [early], "7d"), questionOf("q", [early], "1h"));
  assert.notEqual(questionOf("q", [early], ""), questionOf("q", [late], ""));
});

test("it is known whether the data answer what is asked now", () => {
  assert.equal(isAnswer(known, "a"), true);
  assert.equal(isAnswer(asking(known, ""), "b"), false, "the answer to the question before");
  assert.equal(isAnswer({ busy: true }, "a"), false);
});
