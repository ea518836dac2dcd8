import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { parseAddress, formatAddress, parseState, formatState, changed, sharedState } = await load("src/lib/address.ts");
const { rangeOf, spanOf, stepOf, shifted, fixed, lengthOf } = await load("src/lib/range.ts");

test("an address says page, id and state, and is written back as it was", () => {
  const { page, id, state } = parseAddress("/trace/0af7", "#span=b7ad&view=graph");
  assert.deepEqual([page, id, { ...state }], ["trace", "0af7", { span: "b7ad", view: "graph" }]);
  assert.equal(formatAddress(page, id, state), "/trace/0af7#span=b7ad&view=graph");
  assert.equal(parseAddress("/", "").page, "quality");
  assert.equal(parseAddress("/lab/compare", "#new=v2").page, "lab");
  assert.equal(parseAddress("/scores/answer%20relevance", "").id, "answer relevance");
  for (const path of ["/nope", "/trace/", "/trace", "/sql/x", "/lab/nope"]) assert.equal(parseAddress(path, "").page, "unknown", path);
});

test("a filter comes through the fragment unchanged, whatever it holds", () => {
  for (const where of ["name = 'a&b=c#d' AND x LIKE '%25%'", "a <> \"b c\"", "ü = '⟨U+202E⟩'", "100%", "=", "__proto__"]) {
    assert.equal(parseState(formatState({ where })).where, where);
  }
  assert.equal({ ...parseState("#__proto__=x") }.toString, Object.prototype.toString);
  assert.equal(parseState("#a=%E0%A4%A").a, "%E0%A4%A");
});

test("the shared part of the state is the time range", () => {
  assert.deepEqual(sharedState({ range: "6h", where: "x" }), { range: "6h" });
  assert.deepEqual(changed({ a: "1", b: "2" }, { a: "", c: "3" }), { b: "2", c: "3" });
});

test("ranges are relative or fixed, and anything else is none", () => {
  assert.equal(rangeOf({ range: "7d" }).relative, "7d");
  assert.equal(rangeOf({ from: "2026-11-21T00:00:00Z", to: "2026-11-22T00:00:00Z" }).from, "2026-11-21T00:00:00Z");
  for (const state of [{}, { range: "0d" }, { range: "7 days" }, { from: "2026-11-22", to: "2026-11-21" }, { from: "x", to: "y" }]) {
    assert.equal(rangeOf(state), undefined);
  }
  assert.equal(lengthOf("15m"), 900_000);
  assert.deepEqual(spanOf({ relative: "1h", from: "", to: "" }, 3_600_000), { from: 0, to: 3_600_000 });
});

test("a range is cut into at most as many buckets as asked", () => {
  for (const relative of ["15m", "1h", "24h", "7d", "30d", "900d"]) {
    const span = spanOf({ relative, from: "", to: "" }, Date.UTC(2026, 10, 23));
    assert.ok((span.to - span.from) / stepOf(span).ms <= 200, relative);
  }
  assert.equal(stepOf({ from: 0, to: 7 * 86_400_000 }).sql, "1 hour");
});

test("a window moves by half of itself", () => {
  assert.deepEqual(shifted({ from: 1000, to: 3000 }, -1), fixed({ from: 0, to: 2000 }));
});

test("the link in a message about an alert names the alert and its slice", () => {
  // As src/drift/message.rs writes it, where a test holds the same text.
  const link = new URL("https://groundline.example/alerts#alert=drift%20%231&slice=service_name=shop%20%26%20co,%20request_model=gpt%204%7C%3C%C3%A9%3E");
  const { page, state } = parseAddress(link.pathname, link.hash);
  assert.equal(page, "alerts");
  assert.deepEqual({ ...state }, { alert: "drift #1", slice: "service_name=shop & co, request_model=gpt 4|<é>" });
});
