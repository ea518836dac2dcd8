import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "./load.mjs";

const { keyOf, piecesOf, saysOf, sparksOf } = await load("src/lib/spark.ts");
const { leads, placeAfter } = await load("src/lib/walk.ts");

const point = (at, estimate, n = 10) => ({ at, estimate, lower: estimate === null ? null : estimate - 0.1, upper: estimate === null ? null : estimate + 0.1, n });

test("a curve ends where a bucket is missing or has too few", () => {
  const places = (points) => piecesOf(points, 10).map((piece) => piece.map(({ at }) => at));
  assert.deepEqual(places([point(0, 0.5), point(10, 0.6), point(30, 0.7), point(40, null), point(50, 0.8)]), [[0, 10], [30], [50]]);
  assert.deepEqual(places([]), []);
});

test("what a curve says has the interval and the n of each number", () => {
  assert.equal(saysOf([point(0, 0.5), point(10, 0.8, 4), point(20, null, 1), point(30, 0.6)]),
    "lowest 0.50 [0.40, 0.60] n 10, highest 0.80 [0.70, 0.90] n 4, last 0.60 [0.50, 0.70] n 10");
  assert.equal(saysOf([point(0, null)]), "too few in every bucket");
});

test("curves come to the rows that they are of", () => {
  const names = ["service_name", "metric", "bucket", "estimate", "lower", "upper", "n"];
  const rows = [["a", "m", "2026-01-01T00:00:00Z", 0.5, 0.4, 0.6, "7"], [null, "m", "2026-01-01T00:00:00Z", 1, 0.9, 1, 3], ["a", "m", "2026-01-01T01:00:00Z", null, null, null, 0]];
  const table = { columns: names.map((name) => ({ name, type: "" })), data: names.map((_, at) => rows.map((row) => row[at])), rows: 3 };
  const found = sparksOf(table, ["service_name", "metric"]);
  assert.deepEqual([...found].map(([, points]) => points.map(({ n }) => n)), [[7, 0], [3]]);
  assert.equal(found.get(keyOf({ metric: "m", service_name: null, more: 1 }, ["service_name", "metric"])).length, 1);
  assert.equal(sparksOf(undefined, ["metric"]).size, 0);
});

test("curves are of the rows that their tables show", () => {
  const read = (name) => readFileSync(new URL(`../sql/${name}.sql`, import.meta.url), "utf8");
  const order = /ORDER BY (upper NULLS LAST, .*) LIMIT (\d+)/.exec(read("C2"));
  assert.ok(read("C40").includes(`dense_rank() OVER (ORDER BY ${order[1].replace("upper", "w['upper']")})`));
  assert.ok(read("C40").includes(`place <= ${order[2]} `));
});

test("the first step of the keyboard comes to the first row, and the ends hold", () => {
  assert.deepEqual([placeAfter(3, -1, 1), placeAfter(3, -1, -1), placeAfter(3, 0, 1), placeAfter(3, 2, 1), placeAfter(3, 0, -1)], [0, 0, 1, 2, 0]);
});

test("a click on a link within a row is the link's", () => {
  const on = (found) => ({ target: { closest: (selector) => (selector === "a[href]" ? found : null) } });
  assert.deepEqual([leads(on({})), leads(on(null)), leads({ target: null })], [true, false, false]);
});
