// How times are held. TIMES=held: those of docs/console.md, on a quiet machine with a release build. TIMES=told: they are only
// told, as on a machine that does other work. Without the word: their order of magnitude.
import assert from "node:assert/strict";

export const HELD = process.env.TIMES === "held";

/** `budget` is what the documents promise, `usual` what a debug build on a shared machine must not exceed. */
export function inTime(taken, budget, usual, what) {
  if (process.env.TIMES === "told") return;
  const most = HELD ? budget : usual;
  assert.ok(taken <= most, `${what}: ${Math.round(taken)}, at most ${most}`);
}

/** At least so many, such as frames a second. */
export function atLeast(found, budget, usual, what) {
  if (process.env.TIMES === "told") return;
  const least = HELD ? budget : usual;
  assert.ok(found >= least, `${what}: ${found.toFixed(1)}, at least ${least}`);
}

/** Notes from now on how long the page was busy at a stretch; what is not noticed within 50 ms is no long task. */
export async function noteStalls(page) {
  await page.evaluate(() => {
    window.stalls = [];
    new PerformanceObserver((list) => window.stalls.push(...list.getEntries().map((entry) => entry.duration))).observe({ entryTypes: ["longtask"] });
  });
}

/** The longest of them, milliseconds; 0 without one. */
export const longestStall = (page) => page.evaluate(() => Math.max(0, ...window.stalls));
