import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { confusionOf } = await load("src/lib/confusion.ts");

test("labels become a matrix with precision, recall and F1 by class", () => {
  const { classes, n, of } = confusionOf([
    { label: "spam -> spam", n: 6 }, { label: "spam -> ham", n: "2" }, { label: "ham -> ham", n: 3 }, { label: "ham -> spam", n: 1 }, { label: "ham -> a -> b", n: 1 },
    { label: "no arrow", n: 9 }, { label: null, n: 9 },
  ]);
  assert.equal(n, 13);
  assert.deepEqual(classes.map((each) => [each.label, each.expected]), [["spam", 8], ["ham", 5], ["a -> b", 0]]);
  assert.deepEqual([of("spam", "ham"), of("ham", "spam"), of("ham", "a -> b"), of("x", "y")], [2, 1, 1, 0]);
  const [spam, , strange] = classes;
  assert.deepEqual([spam.precision, spam.recall, spam.f1], [6 / 7, 6 / 8, 12 / 15]);
  assert.deepEqual([strange.precision, strange.recall, strange.f1], [0, null, 0]);
  assert.deepEqual(confusionOf([]).classes, []);
});
