import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { BLANK, differingFirst, fieldsOf, isQueue, lacks, nextField, queueAnswer, saidOf } = await load("src/lib/queue.ts");

const templates = [
  { name: "tone", type: "categorical", optional: false, categories: ["polite", "rude"] },
  { name: "grade", type: "numerical", optional: true, min: 1, max: 5, step: 1 },
  { name: "note", type: "free_text", optional: true, instructions: "What stands out?" },
];
const item = { item: "a", trace_id: "t", run_id: "r", state: "open", content: {}, expected: [], auto_evals: [{ key: "rouge/rouge_l", evaluator: "rouge", metric: "rouge_l" }] };
const fields = fieldsOf(item, templates);

test("an address with the id of a queue is a queue's, any other a metric's", () => {
  assert.ok(isQueue("0af7651916cd43dd8448eb211c80319c") && isQueue("0198b1c2-7d3e-7abc-8def-0123456789ab"));
  assert.ok(!isQueue("hallucination") && !isQueue("") && !isQueue("0af7651916cd43dd8448eb211c80319"));
});

test("scores are asked about first, then the templates", () => {
  assert.deepEqual(fields.map(({ title, kind, help }) => [title, kind, help]), [
    ["rouge/rouge_l", "choice", "pass or fail?"], ["tone", "choice", ""],
    ["grade", "number", "a number from 1 to 5 in steps of 1"], ["note", "text", "What stands out?"],
  ]);
  const values = { [fields[0].id]: "pass" };
  assert.deepEqual([nextField(fields, values, 0), nextField(fields, values, 3)], [1, 3]);
});

test("what must be answered is told; an answer has what was said, a skip and an undo say nothing", () => {
  const draft = { ...BLANK, values: { [fields[0].id]: "fail", [fields[2].id]: " 4 ", [fields[3].id]: "  " }, feedback: { "rouge/rouge_l": " too short " }, comment: " fine ", flagged: true };
  assert.equal(lacks(fields, BLANK), "rouge/rouge_l is not answered");
  assert.equal(lacks(fields, draft), "tone is not answered");
  draft.values[fields[1].id] = "rude";
  assert.equal(lacks(fields, draft), "");
  assert.match(lacks(fields, { ...draft, values: { ...draft.values, [fields[2].id]: "four" } }), /grade is a number from 1/);
  const { answer_id: id, ...sent } = queueAnswer(item, fields, "answer", draft, "ana", 3.5);
  assert.match(id, /^[0-9a-f]{32}$/);
  assert.deepEqual(sent, {
    item: "a", kind: "answer", reviewer: "ana", comment: "fine", flagged: true, seconds: 3.5,
    templates: { tone: "rude", grade: 4 }, auto_evals: { "rouge/rouge_l": { response: "fail", feedback: "too short" } },
  });
  assert.deepEqual(Object.keys(queueAnswer(item, fields, "undo", draft, "", 0)), ["answer_id", "item", "kind"]);
  assert.equal(queueAnswer(item, fields, "skip", draft, "", 0).templates, undefined);
});

test("questions about which people differ stand first", () => {
  const said = (tone) => ({ reviewer: tone, kind: "answer", comment: null, flagged: false, response: { templates: { tone, grade: 4 }, auto_evals: {} } });
  assert.deepEqual(differingFirst(fields, [said("polite"), said("rude")]).map(({ title }) => title)[0], "tone");
  assert.equal(saidOf(fields[2], said("rude").response), "4");
});
