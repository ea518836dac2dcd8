import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { cellText, filesOf, labPath, sideText, signed, textOf, verdictText, words } = await load("src/lib/lab.ts");

test("words of two answers are marked where the other has them too", () => {
  const [left, right] = words("The capital is Madrid.", "The capital is  Barcelona now.");
  assert.deepEqual(left.filter((word) => !word.same).map((word) => word.text.trim()), ["Madrid."]);
  assert.deepEqual(right.filter((word) => !word.same).map((word) => word.text.trim()), ["Barcelona", "now."]);
  assert.equal(right.map((word) => word.text).join(""), "The capital is  Barcelona now.", "nothing is lost");
  assert.deepEqual(words("", "a"), [[], [{ text: "a", same: false }]]);
  assert.equal(words("a ".repeat(5000), "b")[0].length, 1, "long texts are not compared");
});

test("where no difference is shown, what would have been seen is said", () => {
  const of = (more) => ({ verdict: "no difference shown", detectable: 0.03, measure: "pass_rate", n_for_two_points: 11120, ...more });
  assert.equal(verdictText(of({})), "no difference shown; 3 points would have been seen; two points need n 11,120");
  assert.equal(verdictText(of({ measure: "value" })), "no difference shown; 0.03 would have been seen");
  assert.equal(verdictText(of({ detectable: 1.1 })), "no difference shown; so few pairs could show none");
  assert.equal(verdictText(of({ detectable: null })), "no difference shown");
  assert.equal(verdictText(of({ verdict: "worse" })), "worse");
});

test("sides, differences and contents are written as people read them", () => {
  assert.deepEqual([sideText({ passed: 1, of: 3, mean: 0.4 }), sideText({ passed: null, of: 3, mean: 0.43219 })], ["1/3", "0.4322"]);
  assert.deepEqual([signed(0.0321, "pass_rate"), signed(-0.5, "value"), signed(0, "value")], ["+3.21", "−0.5", "0"]);
  assert.deepEqual([textOf("a"), textOf({ question: "q", more: 1 }), textOf({ x: 1 }), textOf(null)], ["a", "q", '{"x":1}', ""]);
  assert.deepEqual([cellText('"a"'), cellText("plain text"), cellText('{"answer":"b"}'), cellText(null)], ["a", "plain text", "b", ""]);
  assert.equal(labPath("compare", { new: "a&b=c" }, "t 1"), "/v1/lab/compare?new=a%26b%3Dc&tenant=t+1");
});

test("a file of an item is found by its hash and saved under its name", () => {
  const sha256 = "0a".repeat(32);
  const files = [{ name: "a & b.txt", sha256, bytes: 3 }, { name: "x", sha256: "../../v1/sql", bytes: 1 }];
  assert.deepEqual(filesOf({ files }, "t 1"), [{ name: "a & b.txt", href: `/v1/lab/files/${sha256}?name=a+%26+b.txt&tenant=t+1` }]);
  assert.deepEqual(filesOf({}), []);
});
