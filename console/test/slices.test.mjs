import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "./load.mjs";

const { DIMENSIONS, MOST_SLICES, dimensionOf, slicesOf } = await load("src/lib/slices.ts");

test("slices are the rows of their dimension, and each is a condition over scores", () => {
  const rows = [
    { part: "all", service_name: null, request_model: null },
    { part: "service_name", service_name: "o'hara", request_model: null },
    { part: "service_name", service_name: null, request_model: null },
    { part: "request_model", service_name: null, request_model: "m" },
  ];
  assert.deepEqual(slicesOf(rows, "service_name").map(({ name, condition }) => [name, condition]), [["o'hara", "service_name = 'o''hara'"], [null, "service_name IS NULL"]]);
  assert.deepEqual(slicesOf(rows, "evaluator_version"), []);
  assert.deepEqual(["request_model", undefined, "toString", "nope"].map(dimensionOf), ["request_model", "service_name", "service_name", "service_name"]);
});

test("the statement parts a metric by what the page offers", () => {
  const text = readFileSync(new URL("../sql/C12s.sql", import.meta.url), "utf8");
  for (const name of Object.keys(DIMENSIONS)) {
    assert.ok(text.includes(`grouping(${name}) = 0 THEN '${name}'`), name);
    assert.ok(text.includes(`(${name})`), name);
  }
  assert.ok(text.includes(`place <= ${MOST_SLICES}`));
});
