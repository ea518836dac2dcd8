import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { faultOf, withCondition, withoutLast, condition, parts } = await load("src/lib/filter.ts");
const { bind, literal } = await load("src/lib/statement.ts");

test("a filter cannot leave its parentheses", () => {
  for (const text of ["true) OR (true", "1 = 1; DROP TABLE x", "true -- ", "true /* ", "name = 'open", "(a", "a]", '"x', "$$ ) $$", "$1 = 1"]) {
    assert.ok(faultOf(text), text);
  }
  for (const text of ["", "name = 'a;b--c)/*'", "\"odd)name\" = 1", "documents[1]['id'] = 'it''s'", "a AND (b OR c)"]) {
    assert.equal(faultOf(text), undefined, text);
  }
  assert.equal(faultOf("a = 1)").at, 5);
});

test("a facet writes its condition once, and an OR keeps its meaning", () => {
  assert.equal(withCondition("", "a = 'x'"), "a = 'x'");
  assert.equal(withCondition("a = 'x'", "a = 'x'"), "a = 'x'");
  assert.equal(withCondition("a = 1 OR b = 2", "c = 3"), "(a = 1 OR b = 2) AND c = 3");
  assert.equal(condition("name", "it's", true), "name = 'it''s'");
  assert.equal(condition("name", null, false), "name IS NOT NULL");
});

test("the last condition is found outside of quotes and of BETWEEN", () => {
  assert.deepEqual(parts("a = ' AND ' AND b BETWEEN 1 AND 2 AND (c AND d)"), ["a = ' AND '", "b BETWEEN 1 AND 2", "(c AND d)"]);
  assert.equal(withoutLast("a = 1 AND b = 2"), "a = 1");
  assert.equal(withoutLast("brand = 1"), "");
});

test("values are bound, never written into the text that is sent", () => {
  const bound = bind("-- why\nSELECT $id, $from WHERE ($where) AND x = $id;", { id: "it's", from: 5 }, { where: "y = '$from'" });
  assert.equal(bound.query, "SELECT $1, $2 WHERE (y = '$from') AND x = $1");
  assert.deepEqual(bound.params, ["it's", 5]);
  assert.equal(bound.shown, "SELECT 'it''s', 5 WHERE (y = '$from') AND x = 'it''s'");
  assert.throws(() => bind("SELECT $nope", {}));
  assert.equal(literal(null), "NULL");
});

test("a CASE is one condition, with the AND and OR that it holds", () => {
  const filter = "a = 1 AND CASE WHEN b = 2 AND c = 3 OR d = 4 THEN true ELSE false END";
  assert.deepEqual(parts(filter), ["a = 1", "CASE WHEN b = 2 AND c = 3 OR d = 4 THEN true ELSE false END"]);
  assert.equal(withoutLast(filter), "a = 1");
  assert.equal(withCondition("CASE WHEN b OR c THEN d END", "e = 1"), "CASE WHEN b OR c THEN d END AND e = 1");
  assert.deepEqual(parts("weekend = 1 AND end_time > 2 AND case_id = 3"), ["weekend = 1", "end_time > 2", "case_id = 3"]);
});
