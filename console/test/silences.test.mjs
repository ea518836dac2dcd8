import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { activeOf, columnsOf, silenceBody, sliceText, timed } = await load("src/lib/silences.ts");
const now = Date.parse("2026-11-23T12:00:30.500Z");
const one = (more) => ({ id: "1", alert: "a", slice: null, since: "2026-11-23T12:00:00Z", until: "2026-11-23T13:00:00Z", by: "Ada", comment: "", source: "http", ...more });

test("silences are active, ahead or over, in this order", () => {
  const over = one({ id: "over", since: "2026-11-01T00:00:00Z", until: "2026-11-02T00:00:00Z" });
  const ahead = one({ id: "ahead", since: "2026-12-24T00:00:00+01:00", until: "2026-12-27T00:00:00Z", source: "config" });
  const wrong = one({ id: "wrong", since: "soon" });
  const all = timed([over, wrong, ahead, one({ id: "now" })], now);
  assert.deepEqual(all.map((each) => [each.id, each.when]), [["now", "active"], ["ahead", "ahead"], ["over", "over"]]);
  assert.equal(timed([one({})], Date.parse("2026-11-23T13:00:00Z"))[0].when, "over", "the end is outside");
});

test("a silence covers its alert and its slice, or all; of several the longest is told", () => {
  const all = timed([
    one({ id: "slice", slice: { request_model: "b" } }), one({ id: "all", alert: null, until: "2026-11-23T12:30:00Z" }),
    one({ id: "ahead", since: "2026-11-23T12:30:00Z", until: "2026-11-23T20:00:00Z" }),
  ], now);
  assert.equal(activeOf(all, "a", "request_model=b, service_name=shop")?.id, "slice");
  assert.equal(activeOf(all, "a", "request_model=c")?.id, "all");
  assert.equal(activeOf(all, "other", "")?.id, "all");
  assert.equal(activeOf(all.filter((each) => each.id !== "all"), "other", ""), undefined);
});

test("what is sent names the alert, the slice, how long, who and why", () => {
  assert.deepEqual(silenceBody({ alert: "a", slice: "request_model=b, c=d, service_name=x=y", hours: 4, comment: " deploy ", by: " Ada " }), {
    alert: "a", slice: { request_model: "b", c: "d", service_name: "x=y" }, for: "4h", comment: "deploy", by: "Ada",
  });
  assert.deepEqual(silenceBody({ alert: "", slice: "", hours: 1, comment: "", by: " " }), { alert: null, slice: null, for: "1h", comment: "" });
  assert.equal(sliceText(columnsOf("request_model=b, service_name=it's")), "request_model=b, service_name=it's");
  assert.equal(sliceText(null), "");
});
