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
