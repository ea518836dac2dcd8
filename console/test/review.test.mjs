import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { dealt, walked, answerOf, pace, sideBySide, EMPTY } = await load("src/lib/review.ts");
const { Outbox } = await load("src/lib/outbox.ts");
const { parseAddress, formatAddress } = await load("src/lib/address.ts");

const item = (name) => ({ item: name, metric: "m", trace_id: "t", span_id: null, state: "open", content: {} });

test("the review page has an address of its own for each metric", () => {
  assert.equal(parseAddress("/review", "").page, "review");
  const { page, id, state } = parseAddress("/review/answer%20relevance", "#mode=decide");
  assert.deepEqual([page, id, state.mode], ["review", "answer relevance", "decide"]);
  assert.equal(formatAddress("review", "hallucination", {}), "/review/hallucination");
});

test("items come once, in their order, and not again when they are answered", () => {
  const deck = dealt([item("a"), item("b")], [item("b"), item("c"), item("d")], new Set(["a", "d"]));
  assert.deepEqual(deck.map((each) => each.item), ["b", "c"]);
  assert.deepEqual([walked(0, -1, 3), walked(2, 1, 3), walked(1, 1, 3), walked(0, 1, 0)], [0, 2, 2, 0]);
});

test("an answer says what was chosen, a skip and an undo choose nothing", () => {
  const draft = { label: "pass", comment: "  fine ", flagged: true };
  const sent = answerOf(item("a"), "answer", draft, "ana", 3.5);
  assert.match(sent.annotation_id, /^[0-9a-f]{32}$/);
  const { annotation_id: id, ...rest } = sent;
  assert.deepEqual(rest, { item: "a", name: "m", kind: "answer", label: "pass", seconds: 3.5, comment: "fine", flagged: true, annotator: "ana" });
  assert.notEqual(answerOf(item("a"), "answer", draft, "ana", 1).annotation_id, id);
  assert.equal(answerOf(item("a"), "skip", draft, "", 1).label, undefined);
  assert.deepEqual(Object.keys(answerOf(item("a"), "undo", draft, "", 1)), ["annotation_id", "item", "name", "kind"]);
  assert.equal(EMPTY.label, "");
});

test("pace is told from three answers on; answers that stand alone come first", () => {
  assert.equal(pace([0, 1000], 2000), undefined);
  assert.equal(pace([0, 18_000, 36_000], 54_000), 200);
  const said = (reviewer, label) => ({ reviewer, label, kind: "answer", comment: null, flagged: false });
  const sorted = sideBySide([said("a", "pass"), said("b", "pass"), said("c", "fail")]);
  assert.deepEqual(sorted.map((each) => each.reviewer), ["c", "a", "b"]);
});

function storage() {
  const kept = new Map();
  return { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value) };
}

/** A fault as the page's own module makes it. */
function faultOf(status) {
  return Object.assign(new Error("no"), { kind: "server", status, retryAfter: 0 });
}

test("what is not sent waits, survives a reload, and goes in its order", async () => {
  const kept = storage();
  let away = true;
  const got = [];
  const post = async (sent) => {
    if (away) throw faultOf(0);
    got.push(sent.item);
    return { items: [{ item: sent.item, state: "final" }] };
  };
  const box = Outbox.of(kept, "k", post);
  for (const name of ["a", "b", "c"]) box.add(answerOf(item(name), "answer", { ...EMPTY, label: "pass" }, "", 1));
  const failed = await box.flush();
  assert.ok(failed.fault);
  assert.equal(box.takeBack("b"), true);
  assert.equal(box.takeBack("x"), false);
  const again = Outbox.of({ ...kept }, "k", post);
  assert.deepEqual(again.waiting.map((sent) => sent.item), ["a", "c"]);
  away = false;
  const { told } = await again.flush();
  assert.deepEqual([got, told.length, again.waiting.length], [["a", "c"], 2, 0]);
  assert.equal(Outbox.of({ ...kept }, "k", post).waiting.length, 0);
});

test("damaged storage is an empty outbox", () => {
  const kept = storage();
  kept.setItem("k", "{");
  assert.deepEqual(Outbox.of(kept, "k", async () => null).waiting, []);
});
