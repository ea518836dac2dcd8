import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { countingOf } = await load("src/lib/again.ts");

test("a try that is refused again is counted down anew", () => {
  const [first, second] = [{ kind: "busy", retryAfter: 3 }, { kind: "busy", retryAfter: 3 }];
  assert.deepEqual(countingOf(undefined, first), { of: first, left: 3 });
  assert.equal(countingOf({ of: first, left: 2 }, first).left, 2);
  assert.equal(countingOf({ of: first, left: 0 }, second).left, 3, "it would stand at 0 and never ask again");
  assert.equal(countingOf(undefined, { kind: "busy", retryAfter: 0 }).left, 5);
});
