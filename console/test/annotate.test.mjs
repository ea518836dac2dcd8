import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "./load.mjs";

const { WORDS, keptText, keyOf, subjectsOf } = await load("src/lib/annotate.ts");
const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");

test("what is said of an answer counts as a label, and what is said of a verdict as a mark", () => {
  const view = read("../../src/sql/views/labelled_scores.sql");
  const [good, bad] = WORDS.answer.map(([label]) => label);
  assert.match(view, new RegExp(`IN \\([^)]*'${good}'[^)]*\\) THEN true`));
  assert.match(view, new RegExp(`IN \\([^)]*'${bad}'[^)]*\\) THEN false`));
  const [right, wrong] = WORDS.verdict.map(([label]) => label);
  assert.ok(read("../sql/C13c.sql").includes(`label IN ('${right}', '${wrong}')`));
});

test("one can speak of the answer of a span, and of the verdicts that were given there", () => {
  const row = (metric, more = {}) => ({ span_id: "s", status: "ok", passed: true, metric, ...more });
  const scores = [row("m"), row("m"), row("n", { passed: null }), row("o", { status: "skipped" }), row("p", { span_id: "t" })];
  assert.deepEqual(subjectsOf(scores, "s").map(keyOf), ["answer/correctness", "answer/m", "answer/n", "verdict/m"]);
});

test("what the server has to say of a label is told", () => {
  const answer = { about: "answer", name: "m" };
  assert.match(keptText(answer, { contradicting: 1, uncounted: [] }), /opposite/);
  assert.match(keptText(answer, { contradicting: 0, uncounted: ["hm"] }), /nothing counts the word hm/);
  assert.equal(keptText(answer, null), "Kept as a label of m");
  assert.match(keptText({ about: "verdict", name: "m" }, { uncounted: ["right"] }), /verdict of m/);
});
