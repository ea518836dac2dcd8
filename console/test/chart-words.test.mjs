import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { summaryOf } = await load("src/lib/chart-words.ts");

test("a chart is read out with numbers of their own size, and estimates as everywhere", () => {
  const of = (series) => summaryOf("c", [{ label: "y", ...series }], [], series.values.length);
  assert.equal(of({ values: [0.00004, null, 0.00002] }), "c. y: lowest 2.00e-5, highest 4.00e-5, last 2.00e-5, falling. 3 points.");
  assert.equal(of({ values: [12, 1500] }), "c. y: lowest 12, highest 1,500, last 1,500, rising. 2 points.");
  assert.equal(of({ values: [0.5], lower: [0.4], upper: [0.6], n: [9] }), "c. y: lowest 0.50, highest 0.50, last 0.50, level. 1 points.");
  assert.equal(summaryOf("c", [{ label: "y", values: [null] }], [{ y: 1, text: "a line", short: "l" }], 1), "c. y: no value. 1 points. Line: a line.");
});
