import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { isBad } = await load("src/lib/healthy.ts");

test("a reader of the journal that keeps frames back on purpose is not behind", () => {
  const behind = (name, frames) => isBad("behind_frames", frames, { name, behind_frames: frames });
  assert.deepEqual([behind("lake", 50_000), behind("sample", 50_000), behind("emit", 99)], [false, false, false]);
  assert.equal(behind("emit", 100), true);
  assert.equal(isBad("behind_frames", 100), true);
});

test("counts that are zero on a healthy server are marked when they are not", () => {
  assert.deepEqual([isBad("damaged_segments", 1), isBad("errors", 2), isBad("connections_refused", 1)], [true, true, true]);
  assert.deepEqual([isBad("damaged_segments", 0), isBad("errors", "2"), isBad("frames", 7)], [false, false, false]);
});
