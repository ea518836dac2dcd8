import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { flowsOf, mostlyLost, rateOf, tracesOf } = await load("src/lib/flow.ts");

const row = (decision, reason, n) => ({ rule: "r", rule_version: "1", decision, reason, stratum: null, n, p_min: 0.25, p_max: 1 });

test("a rule has seen what it decided first, and what was queued and has not ended waits", () => {
  const [flow] = flowsOf([row("queued", "rate 0.25", 10), row("not_sampled", "rate 0.25", 30), row("not_sampled", "other reasons", 5), row("scored", "", 7)]);
  assert.deepEqual([flow.seen, flow.first.map(({ kind, n }) => [kind, n])], [45, [["not_sampled", 35], ["queued", 10]]]);
  assert.deepEqual(flow.then.map(({ kind, n }) => [kind, n]), [["scored", 7], ["waiting", 3]]);
  assert.deepEqual(flow.strata, [{ name: "", n: 10, low: 0.25, high: 1 }]);
});

test("a count leads to its traces, also where every draw has a reason of its own", () => {
  const of = (kind, why) => `trace_id IN (SELECT trace_id FROM decisions WHERE rule = 'it''s' AND decision = '${kind}'${why})`;
  assert.equal(tracesOf("it's", "queued", "rate 1"), of("queued", " AND reason = 'rate 1'"));
  assert.equal(tracesOf("it's", "not_sampled", "rate 0.3"), of("not_sampled", " AND ends_with(reason, 'rate 0.3')"));
  assert.equal(tracesOf("it's", "filtered", ""), of("filtered", ""));
  assert.deepEqual([tracesOf("r", "waiting", ""), tracesOf("r", "failed", "other reasons")], [undefined, undefined]);
});

test("of what a rule lost the most frequent reason is told", () => {
  const [flow] = flowsOf([row("queued", "rate 1", 10), row("not_sampled", "rate 0.25", 90), row("throttled", "full", 2), row("expired", "too late", 3), row("expired", "restarted", 1), row("scored", "", 5)]);
  assert.deepEqual(mostlyLost(flow), { lost: 6, kind: "expired", reason: "too late", n: 3 });
  assert.equal(mostlyLost(flowsOf([row("queued", "rate 1", 1), row("filtered", "", 9)])[0]), undefined);
});

test("a rate that the server would refuse is none, and not 0", () => {
  assert.deepEqual(["0.1", " 1 ", "1e-3"].map(rateOf), [0.1, 1, 0.001]);
  assert.deepEqual(["0,1", "", "0", "5", "-0.1", "ten"].map(rateOf), Array(6).fill(undefined));
});
