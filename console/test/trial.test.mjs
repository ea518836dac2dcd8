import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { shareAt } = await load("src/lib/trial.ts");

test("beside a threshold stands its own share, and never that of the one before", () => {
  const whole = { estimate: 0.9 };
  const data = { columns: [{ name: "estimate", type: "double" }], data: [[0.4]], rows: 1 };
  const at = (trial, asked, answers = true) => shareAt({ trial, asked, own: 0.5, whole }, { data, answers })?.estimate;
  assert.equal(at(0.5, 0.5), 0.9);
  assert.equal(at(0.7, 0.7), 0.4);
  assert.equal(at(0.8, 0.7), undefined, "the slider has moved on");
  assert.equal(at(0.8, 0.5), undefined, "away from the threshold in force");
  assert.equal(at(0.8, 0.8, false), undefined, "the answer is of 0.7 still");
});
