import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { placeIn } = await load("src/lib/quotes.ts");

test("open quotes tell whose keys or values are wanted", () => {
  assert.deepEqual(placeIn("status_code = 'error' AND attr(attributes, 'http.r"), { column: "attributes", typed: "http.r" });
  assert.deepEqual(placeIn("ATTR( Resource_Attributes,'"), { column: "resource_attributes", typed: "" });
  assert.deepEqual(placeIn("service_name = 'sh"), { column: "service_name", typed: "sh" });
  assert.deepEqual(placeIn("operation <> '"), { column: "operation", typed: "" });
  assert.deepEqual(placeIn("request_model IN ('a', 'b', 'c"), { column: "request_model", typed: "c" });
  assert.deepEqual(placeIn("name NOT IN ('"), { column: "name", typed: "" });
});

test("closed quotes, other columns and plain text want nothing", () => {
  for (const text of ["", "service_name", "service_name = 'shop'", "answer = 'x", "attr(attributes, 'a')", "attr(attributes, 'a') = 'b", "my_name = '"]) {
    assert.equal(placeIn(text), undefined, text);
  }
});
