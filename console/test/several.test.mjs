import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { MOST, allOf, beside, cellOf, fits, flipped, idsOf, metricsOf, partsOf } = await load("src/lib/several.ts");

test("another baseline leaves the one before in the table, and never names one too many", () => {
  assert.deepEqual(beside(["a", "b"], "a", "b"), ["a", "b"]);
  assert.deepEqual(beside(["a", "b"], "c", "b"), ["a", "b", "c"]);
  const full = Array.from({ length: MOST }, (_, at) => `x${at}`);
  assert.deepEqual(beside(full, "c", "x1"), [...full.filter((id) => id !== "x1"), "c"]);
});

test("what is chosen together is of one dataset, each once, and not too many", () => {
  assert.deepEqual([flipped("", "a"), flipped("a,b", "c"), flipped("a,b,c", "b"), flipped("a", "a")], ["a", "a,b,c", "a,c", ""]);
  assert.deepEqual(idsOf("a,,b,a"), ["a", "b"]);
  const all = [{ experiment_id: "a", dataset_id: "d" }, { experiment_id: "b", dataset_id: "d" }, { experiment_id: "c", dataset_id: "e" }];
  assert.deepEqual(all.map((each) => fits(all, [], each)), [true, true, true]);
  assert.deepEqual(all.map((each) => fits(all, ["a"], each)), [true, true, false]);
  assert.deepEqual(all.map((each) => fits(all, ["of another page"], each)), [true, true, true], "the server tells what is of another dataset");
  const many = Array.from({ length: MOST }, (_, at) => `x${at}`);
  assert.ok(!fits(all, many, all[0]) && fits(all, [...many.slice(1), "a"], all[0]), "what is chosen can be taken out");
});

test("metrics of several stand once, those of the baseline first", () => {
  const cell = (evaluator, metric) => ({ evaluator, metric, estimate: null, difference: null, measure: "value" });
  const baseline = { cells: [cell("e", "m"), cell("e", "n")] };
  const other = { cells: [cell("e", "a"), cell("f", "m"), cell("e", "n")] };
  const all = metricsOf({ baseline, experiments: [other] });
  assert.deepEqual(all.map((each) => `${each.evaluator}/${each.metric}`), ["e/m", "e/n", "e/a", "f/m"]);
  assert.equal(cellOf(other, all[1]), other.cells[2]);
  assert.equal(cellOf(other, all[0]), undefined);
});

test("what the address parts by can be chosen, be it known or not", () => {
  assert.deepEqual(partsOf(["tag"], ""), ["tag"]);
  assert.deepEqual(partsOf(["tag"], "tag"), ["tag"]);
  assert.deepEqual(partsOf(["tag"], "metadata.rare"), ["tag", "metadata.rare"]);
});

test("a list is asked page by page, each behind the last, and ends somewhere", async () => {
  const asked = [];
  const pages = { "": { experiments: [3, 2], next: "2" }, 2: { experiments: [1], next: null } };
  const all = await allOf((after) => (asked.push(after), Promise.resolve(pages[after])));
  assert.deepEqual([asked, all], [["", "2"], { experiments: [3, 2, 1], more: false }]);
  let count = 0;
  const endless = await allOf(() => Promise.resolve({ experiments: [count++], next: "x" }));
  assert.deepEqual([endless.experiments.length, endless.more, count], [5, true, 5]);
  await assert.rejects(allOf(() => Promise.reject(new Error("away"))), /away/);
});
