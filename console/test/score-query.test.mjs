// The query that a number of an evaluator leads to.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { scoreQuery } = await load("src/lib/score-query.ts");
const scored = { evaluator: "it's", version: null, from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z" };

test("names are quoted, and a version that is not known is looked for as such", () => {
  const [, where] = scoreQuery(scored, "error", ["status = 'error'"], "evaluated_at").split("\n");
  assert.equal(where, "WHERE evaluator = 'it''s' AND evaluator_version IS NULL AND status = 'error' AND evaluated_at >= '2026-01-01T00:00:00Z' AND evaluated_at < '2026-01-02T00:00:00Z'");
});

test("what is largest comes first, with its trace", () => {
  const [select, where, order] = scoreQuery({ ...scored, version: "2'" }, "cost_usd", [], "cost_usd").split("\n");
  assert.equal(select, "SELECT evaluated_at, trace_id, span_id, metric, cost_usd FROM scores");
  assert.match(where, /evaluator_version = '2''' AND evaluated_at >=/);
  assert.equal(order, "ORDER BY cost_usd DESC LIMIT 200");
});
