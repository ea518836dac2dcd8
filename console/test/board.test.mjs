import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { choiceOf, keyOf, metricsOf, placeText, settingsText, sorted, standing } = await load("src/lib/board.ts");

const cell = (rank_from, rank_to, estimate = 0.5) => ({ evaluator: "rouge", metric: "rouge", measure: "value", estimate: { estimate, lower: 0, upper: 1, n: 9 }, rank_from, rank_to });
const row = (name, ...cells) => ({ experiment_id: name, name, target: { kind: "openai" }, parameters: null, errors: 0, duration_ms: null, cost_usd: null, cells });

test("places are ranges where intervals leave them open, and rows stand by them", () => {
  assert.deepEqual([placeText(cell(1, 1)), placeText(cell(2, 4))], ["1", "2–4"]);
  const rows = [row("last", cell(3, 3)), row("none"), row("ties", cell(1, 2)), row("too", cell(1, 2)), row("unscored", { ...cell(1, 5), estimate: null })];
  assert.deepEqual(sorted(rows, "rouge/rouge").map((each) => each.name), ["ties", "too", "last", "none", "unscored"]);
  assert.deepEqual(sorted(rows, "nothing/here").map((each) => each.name), rows.map((each) => each.name));
  assert.deepEqual([standing(cell(1, 1), 3), standing(cell(3, 3), 3), standing(cell(1, 2), 3), standing(cell(1, 1), 1)], [1, 0, 0.75, 1]);
  assert.deepEqual(metricsOf([row("a", cell(1, 1)), row("b", cell(1, 1), { ...cell(1, 1), metric: "f" })]).map(keyOf), ["rouge/f", "rouge/rouge"]);
});

test("what is shown is what the address says, else the newest of the dataset asked last", () => {
  const all = [["e5", "b", "pending"], ["e4", "a", "success"], ["e3", "b", "running"], ["e2", "b", "cancelled"], ["e1", "b", "error"]]
    .map(([experiment_id, dataset_id, status]) => ({ experiment_id, dataset_id, status }));
  assert.deepEqual([choiceOf(all, "", "").dataset, choiceOf(all, "", "").ids], ["b", ["e3", "e1"]]);
  assert.deepEqual(choiceOf(all, "a", "").ids, ["e4"]);
  assert.deepEqual(choiceOf(all, "", "e2,e4,nobody"), { dataset: "b", all: all.filter((each) => each.dataset_id === "b"), ids: ["e2"] });
  assert.deepEqual(choiceOf([], "", "x"), { dataset: "", all: [], ids: [] });
});

test("rows of one model are told apart by prompt and parameters", () => {
  assert.equal(settingsText({ target: { kind: "openai", prompt: "{{input}}" }, parameters: { temperature: 0, style: "short" } }), "prompt “{{input}}”, temperature 0, style short");
  assert.equal(settingsText({ target: { kind: "http" }, parameters: null }), "");
});
