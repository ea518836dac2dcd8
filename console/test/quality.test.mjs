import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "./load.mjs";

const { ORDERS, rowsIn, MOST_CHOSEN, chosenOf, chosenText, metricsIn } = await load("src/lib/quality.ts");
const row = (service_name, metric, more = {}) => ({ service_name, request_model: "Model-A", evaluator: metric, metric, errors: 0, skipped: 0, ...more });
const interval = (at, name = "") => (name ? { [name]: at, [`${name}_lower`]: at - 0.01, [`${name}_upper`]: at + 0.01 } : { estimate: at, lower: at - 0.01, upper: at + 0.01 });
const rows = [
  row("shop", "toxicity", { errors: 2, ...interval(0.9), ...interval(0.5, "before") }),
  row(null, "relevance", { skipped: 3, ...interval(0.4), ...interval(0.8, "before") }),
  row("desk", "bias", { errors: 5, estimate: null }),
];
const of = (find, order) => rowsIn(rows, find, order).map((each) => each.metric);

test("the table of the first page shows what the address says", () => {
  assert.deepEqual(of("", ""), ["toxicity", "relevance", "bias"], "as the server has them");
  assert.deepEqual(of(" SHOP ", ""), ["toxicity"]);
  assert.deepEqual(of("model-a", "metric"), ["bias", "relevance", "toxicity"]);
  assert.deepEqual(of("nothing", "errors"), []);
  for (const unknown of ["nope", "constructor", "__proto__"]) assert.deepEqual(of("", unknown), of("", ""), unknown);
});

test("its orders put first what they say", () => {
  assert.deepEqual(of("", "errors"), ["bias", "toxicity", "relevance"]);
  assert.deepEqual(of("", "skipped"), ["relevance", "toxicity", "bias"]);
  assert.deepEqual(of("", "change"), ["relevance", "toxicity", "bias"], "worse, better, unknown");
  assert.deepEqual(of("", "service"), ["relevance", "bias", "toxicity"]);
  assert.equal(Object.keys(ORDERS).length, 5);
});

test("metrics are chosen by their names in the address, and looked for as whole names", () => {
  assert.deepEqual(chosenOf(" a,b,,a, b "), ["a", "b"]);
  assert.deepEqual([chosenOf(""), chosenText([]), chosenText(["a", "b"])], [[], "", ",a,b,"]);
  assert.equal(chosenOf(Array.from({ length: 40 }, (_, at) => `m${at}`).join(",")).length, MOST_CHOSEN);
  assert.ok(readFileSync(new URL("../sql/C1b.sql", import.meta.url), "utf8").includes(`THEN 6 ELSE ${MOST_CHOSEN} END`));
  assert.deepEqual(metricsIn([{ metric: "b", n: 2 }, { metric: "a", n: "1" }, { metric: "b", n: 1 }, { metric: "none", n: 0 }, { metric: "x,y", n: 3 }]), ["a", "b"]);
});
