import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { nearest } = await load("src/lib/nearest.ts");

test("what is near to a name that is not there is offered, what is far is not", () => {
  const names = ["hallucination", "groundedness", "answer_relevance", "pii_leakage"];
  assert.deepEqual(nearest("halucination", names), ["hallucination"]);
  assert.deepEqual(nearest("relevance", names), ["answer_relevance"]);
  assert.deepEqual(nearest("GROUNDEDNESS", names), ["groundedness"]);
  assert.deepEqual(nearest("cost", names), []);
  assert.deepEqual(nearest("", names), []);
  assert.deepEqual(nearest("x".repeat(1_000_000), names), []);
});
