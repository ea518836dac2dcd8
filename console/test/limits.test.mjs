import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "./load.mjs";

const { CHANGES, CHANGES_SHOWN, CONVERSATION, PARTS_SHOWN, changesCut, conversationCut, cutText, partsCut } = await load("src/lib/limits.ts");
const limit = (name) => Number(/LIMIT ([0-9]+);/.exec(readFileSync(new URL(`../sql/${name}.sql`, import.meta.url), "utf8"))[1]);

test("what is cut is said, at the limits of the statements", () => {
  assert.deepEqual([limit("C6b"), limit("C14")], [CONVERSATION, CHANGES]);
  assert.deepEqual([conversationCut(CONVERSATION - 1), changesCut(CHANGES_SHOWN)], ["", ""]);
  assert.match(conversationCut(CONVERSATION), /first 200 spans .* may be more/);
  assert.match(changesCut(CHANGES_SHOWN + 1), /newest 300 of 301 changes/);
  assert.deepEqual([partsCut(PARTS_SHOWN), partsCut(4000)], ["", "The first 1000 of 4000 rows. The API has all."]);
  assert.match(changesCut(CHANGES), /of at least 2000 changes/);
  assert.deepEqual([cutText(200, 200, "silences"), cutText(1201, 1000, "points")], ["", "The first 1,000 of 1,201 points."]);
});
