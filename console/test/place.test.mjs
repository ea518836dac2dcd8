import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { around, placeOf } = await load("src/lib/place.ts");
const word = (query, message) => {
  const place = placeOf(query, message);
  return place && query.slice(...place);
};

test("a fault's place comes from line and column, or from the name that is not known", () => {
  const query = "SELECT a,\n FROM FROM spans WHERE 'nope' = nope.x";
  assert.deepEqual(placeOf(query, "syntax error: Expected an expression, found: FROM at Line: 2, Column: 7"), [16, 20]);
  assert.deepEqual(around(query, [16, 20]), [" FROM ", "FROM", " spans WHERE 'nope' = nope.x"]);
  assert.deepEqual(placeOf(query, "No field named nope.x. Did you mean 'spans.name'?\nValid fields are spans.a."), [42, 48]);
  assert.equal(word("SELECT nope FROM spans", "No field named nope."), "nope");
  assert.equal(word("SELECT x.NOPE FROM x", 'No field named x.nope'), "x.NOPE");
  assert.equal(word("SELECT cost(1)", "Invalid function 'cost'.\nDid you mean 'cot'?"), "cost");
  assert.equal(word("SELECT 1 FROM nowhere", "table 'groundline.public.nowhere' not found"), "nowhere");
});

test("what tells no place marks none", () => {
  assert.equal(placeOf("SELECT 1", "8 queries run and 16 wait"), undefined);
  assert.equal(placeOf("SELECT 1", "at Line: 9, Column: 1"), undefined);
  assert.equal(placeOf("SELECT 1", "at Line: 1, Column: 99"), undefined);
  assert.equal(placeOf("SELECT 'nope'", "No field named nope."), undefined, "a text is no name");
});
