import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { extent, plotOf } = await load("src/lib/plot.ts");

test("a result of very many rows is drawn as well", () => {
  const rows = 400_000;
  const values = Array.from({ length: rows }, (_, at) => at - 5);
  assert.deepEqual(extent(values), [-5, rows - 6]);
  const table = { columns: [{ name: "x", type: "bigint" }, { name: "y", type: "double" }], data: [values, values], rows, elapsed_ms: 1, at: 0 };
  const { xs, series, why } = plotOf(table, { x: "x", y: "y", series: "", kind: "scatter" });
  assert.deepEqual([xs.length, series[0].values.length, xs[0], why], [rows, rows, -5, ""]);
});

test("what a plot leaves out is said, and a name from a span is shown as one", () => {
  const of = (xs, names, ys) => ({ columns: [{ name: "x", type: "bigint" }, { name: "who", type: "text" }, { name: "y", type: "double" }], data: [xs, names, ys], rows: xs.length, elapsed_ms: 1, at: 0 });
  const by = (table, series) => plotOf(table, { x: "x", y: "y", series, kind: "line" });
  const twice = of([1, 1, 2], ["a", "a", "a"], [0.1, 0.9, 0.5]);
  assert.equal(by(twice, "who").left, "1 row has the same x and who as another one and is not drawn.");
  assert.equal(by(of([1, 1, 2], ["a", "b", "a"], [0.1, 0.9, 0.5]), "who").left, "");
  assert.equal(by(of([1, 1, 1], ["a", "b", "c"], [1, 2, 3]), "").left, "2 rows have the same x as another one and are not drawn.");
  const many = Array.from({ length: 9 }, (_, at) => at);
  assert.equal(by(of(many, many.map((at) => `s${at}`), many), "who").left, "The first 8 of 9 values of who are drawn.");
  const hostile = by(of([1], ["a\u202Eb"], [1]), "who").series[0];
  assert.deepEqual([hostile.label, hostile.values], ["a⟨U+202E⟩b", [1]]);
});
