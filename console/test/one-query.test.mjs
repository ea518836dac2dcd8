import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { OneQuery } = await load("src/lib/one-query.ts");

/** Queries that end when they are told to, or with their signal. */
function asked() {
  const shown = [];
  const ends = [];
  const ask = (query, signal) => new Promise((resolve, reject) => {
    ends.push({ query, resolve, reject });
    signal.addEventListener("abort", () => reject(new Error("aborted")));
  });
  return { shown, ends, only: new OneQuery(ask, (now) => shown.push(now)) };
}

test("a query that another one has ended tells nothing over it", async () => {
  const { shown, ends, only } = asked();
  const first = only.run("a");
  const second = only.run("b");
  assert.equal(await first, undefined);
  assert.deepEqual(shown, [{ busy: true, query: "a" }, { busy: true, query: "b" }]);
  ends[1].resolve({ rows: 1 });
  assert.deepEqual(await second, { rows: 1 });
  assert.deepEqual(shown.at(-1), { table: { rows: 1 }, query: "b" });
});

test("a query that its reader cancels says so, one that fails says why", async () => {
  const { shown, ends, only } = asked();
  const first = only.run("a");
  only.cancel();
  assert.equal(await first, undefined);
  assert.deepEqual(shown.at(-1), { cancelled: true, query: "a" });
  const second = only.run("b");
  ends[1].reject(new Error("no"));
  await second;
  assert.match(shown.at(-1).fault.message, /no/);
});

test("what is forgotten is gone, and its answer is nobody's when it comes", async () => {
  const { shown, ends, only } = asked();
  const first = only.run("a");
  ends[0].resolve({ rows: 1 });
  await first;
  only.forget();
  assert.deepEqual(shown.at(-1), { query: "" });
  const second = only.run("b");
  only.forget();
  assert.equal(await second, undefined);
  assert.deepEqual(shown.at(-1), { query: "" }, "not even that it was cancelled");
});
