import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { acknowledgement, conditionOf, named, shownOf, sinceOf, standingsOf, standingsTold, watchedOf } = await load("src/lib/alerts.ts");
const { failedOf, outcomeOf, toldOf } = await load("src/lib/deliveries.ts");
const { decidedIn, flowsOf } = await load("src/lib/flow.ts");
const { changeOf } = await load("src/lib/change.ts");

test("a slice becomes a condition over scores", () => {
  assert.equal(conditionOf("request_model=model-b"), "request_model = 'model-b'");
  assert.equal(conditionOf("request_model=a, b=c, service_name=it's"), "request_model = 'a' AND b = 'c' AND service_name = 'it''s'");
  assert.equal(conditionOf(""), "");
});

test("what fires stands first, with what its definition says", () => {
  const standing = (alert, state) => ({ alert, slice: "", state, since: 1, statistic: 2, estimate: null, bound: null, n: 0, examples: [] });
  const shown = shownOf([standing("a", "ok"), standing("b", "firing")], [{ alert: "b", slice: "", metric: "m", alpha: 0.001 }]);
  assert.deepEqual(shown.map((each) => [each.alert, each.metric, each.alpha]), [["b", "m", 0.001], ["a", "", null]]);
  const rows = [{ alert: "b", slice: "s", state: "ok", since: "2026-11-23T10:00:00Z" }, { alert: "b", slice: "s", state: "firing" }];
  assert.deepEqual(standingsOf(rows).map((each) => each.state), ["ok"]);
});

test("an alert that changed before the time range keeps its definition", () => {
  const standing = { alert: "b", slice: "", state: "firing", since: 1, statistic: 2, estimate: null, bound: null, n: 0, examples: [] };
  const definitions = [{ name: "a", metric: "other" }, { name: "b", metric: "m", method: "change", alpha: 0.01, severity: "page", filter: " rule = 'x' " }];
  const of = (rows) => shownOf([standing], rows, definitions).map((each) => [each.metric, each.method, each.alpha, each.severity, each.filter, each.message]);
  assert.deepEqual(of([]), [["m", "change", 0.01, "page", "rule = 'x'", ""]]);
  assert.deepEqual(of([{ alert: "b", slice: "", metric: "m", method: "change", alpha: 0.001, severity: "ticket", message: "said" }]), [["m", "change", 0.001, "ticket", "rule = 'x'", "said"]]);
});

test("what an alert watches is its filter in its slice", () => {
  assert.equal(watchedOf({ filter: "", slice: "" }), "");
  assert.equal(watchedOf({ filter: "service_name = 'shop'", slice: "" }), "service_name = 'shop'");
  assert.equal(watchedOf({ filter: "", slice: "request_model=a" }), "request_model = 'a'");
  assert.equal(watchedOf({ filter: "rule = 'x' OR rule = 'y'", slice: "request_model=a" }), "(rule = 'x' OR rule = 'y') AND request_model = 'a'");
});

test("an address names a slice of an alert, or its first", () => {
  const all = [{ alert: "a", slice: "m=1" }, { alert: "a", slice: "m=2" }];
  assert.equal(named(all, "a", "m=2"), all[1]);
  assert.equal(named(all, "a", undefined), all[0]);
  assert.equal(named(all, "a", "m=3"), undefined);
});

test("an acknowledgement names who, for how long and why", () => {
  assert.deepEqual(acknowledgement("a", "s=1", 4, " Ada ", " rolled back "), { alert: "a", slice: "s=1", for: "4h", note: "rolled back", by: "Ada" });
  assert.equal("by" in acknowledgement("a", "", 1, " ", ""), false);
  const standing = { alert: "a", slice: "", state: "firing", since: 1, statistic: 2, estimate: null, bound: null, n: 0, examples: [], acknowledged: { by: "Ada", note: "", until: 5 } };
  assert.equal(shownOf([standing], [])[0].acknowledged.by, "Ada");
});

test("who was told of a slice is shown with what nobody took first, then what waits", () => {
  const of = (receiver, outcome, more = {}) => ({ alert: "a", slice: "s", receiver, status: "firing", outcome, failed: 0, error: null, ...more });
  const all = [of("am", "delivered"), of("chat", "waiting", { failed: 2 }), of("hook", "refused"), of("mail", "delivered", { error: "refused" }), of("x", "given_up", { slice: "other" })];
  assert.deepEqual(toldOf(all, "a", "s").map((each) => each.receiver), ["hook", "chat", "mail", "am"]);
  assert.deepEqual(toldOf(all, "b", "s"), []);
  assert.deepEqual(all.slice(0, 3).map((each) => [outcomeOf(each).word, outcomeOf(each).tone]), [["told", "good"], ["waiting", "bad"], ["refused", "bad"]]);
  assert.equal(outcomeOf(of("am", "waiting")).tone, "warn");
  assert.equal(outcomeOf(of("am", "something new")).word, "something new");
  assert.deepEqual([failedOf({ failed: 1 }), failedOf({ failed: 3 })], ["1 attempt failed", "3 attempts failed"]);
});

test("decisions become the way of traces through a rule", () => {
  const row = (decision, n, more = {}) => ({ rule: "r", rule_version: "1", decision, reason: decision, stratum: null, n, p_min: 0.1, p_max: 0.5, ...more });
  const [flow] = flowsOf([row("filtered", 60), row("not_sampled", 20), row("queued", 20), row("scored", 15), row("failed", 1)]);
  assert.equal(flow.seen, 100);
  assert.deepEqual(flow.first.map((step) => [step.kind, step.n]), [["filtered", 60], ["not_sampled", 20], ["queued", 20]]);
  assert.deepEqual(flow.then.map((step) => [step.kind, step.n]), [["scored", 15], ["failed", 1], ["waiting", 4]]);
  assert.deepEqual(flow.strata, [{ name: "", n: 20, low: 0.1, high: 0.5 }]);
});

test("a point of the curve of coverage leads to the traces decided then, from where their spans began", () => {
  const { where, from, to } = decidedIn(3_600_000, 60_000, 3_000_000.5);
  assert.match(where, /^trace_id IN \(SELECT trace_id FROM decisions WHERE decision IN \('queued', .*'failed'\) AND decided_at >= '1970-01-01T01:00:00.000Z' AND decided_at < '1970-01-01T01:01:00.000Z'\)$/);
  assert.deepEqual([from, to], [3_000_000, 3_660_000]);
  assert.equal(decidedIn(3_600_000, 60_000, Number.NaN).from, 3_600_000);
});

test("a change is said only where the intervals lie apart", () => {
  const of = (estimate, lower, upper) => ({ estimate, lower, upper, n: 10 });
  assert.equal(changeOf(of(0.5, 0.4, 0.6), of(0.55, 0.45, 0.65)).kind, "none");
  assert.equal(changeOf(of(0.5, 0.4, 0.6), of(0.9, 0.8, 0.95)).kind, "changed");
  assert.equal(changeOf(of(null, null, null), of(0.9, 0.8, 0.95)).kind, "unknown");
});

test("who may not ask where alerts stand is not told that none is defined while nobody knows", () => {
  const refused = { data: undefined, fault: { kind: "forbidden" } };
  const away = { kind: "busy" };
  assert.deepEqual(standingsTold(refused, { data: undefined, fault: undefined }), { standings: undefined, fault: undefined, isPart: true });
  assert.deepEqual(standingsTold(refused, { data: undefined, fault: away }), { standings: undefined, fault: away, isPart: true });
  assert.deepEqual(standingsTold(refused, { data: [], fault: undefined }), { standings: [], fault: undefined, isPart: true });
  assert.equal(standingsTold(refused, { data: [{ alert: "a", slice: "s", state: "ok" }], fault: undefined }).standings[0].alert, "a");
  const all = { data: { alerts: [] }, fault: undefined };
  assert.deepEqual(standingsTold(all, { data: undefined, fault: away }), { standings: [], fault: undefined, isPart: false });
});

test("an alert without a time since when ends no page", () => {
  const [standing] = standingsOf([{ alert: "a", slice: "", state: "ok", since: null }]);
  assert.equal(sinceOf(standing), null);
  assert.equal(sinceOf({ since: Date.parse("2026-11-23T10:00:00Z") * 1e6 }), "2026-11-23T10:00:00.000Z");
});
