import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "./load.mjs";

const { bind } = await load("src/lib/statement.ts");
const statement = (name) => readFileSync(new URL(`../sql/${name}.sql`, import.meta.url), "utf8");

test("of a slice every number of a metric's page is of its items", () => {
  const values = { evaluator: "e", metric: "m", from: "a", to: "b", status: "ok", step: "1 hour", low: 0, high: 1, trial: 0, up: true };
  for (const name of ["C12", "C12s", "C13", "C13c", "C13t"]) {
    const { query } = bind(statement(name), values, { where: "service_name = 'shop'", order: "value" });
    assert.equal(query.split("AND (service_name = 'shop')").length, 2, `${name} is narrowed once`);
  }
});

test("the corrected rate filters scores where no other table is in sight", () => {
  const { query } = bind(statement("C13c"), { evaluator: "", metric: "m", from: "a", to: "b" }, { where: "trace_id <> ''" });
  const inside = query.slice(query.indexOf("FROM scores_latest"), query.indexOf("(trace_id <> '')"));
  assert.doesNotMatch(inside, /JOIN/);
  assert.match(query, /\(trace_id <> ''\)\) s\s+LEFT JOIN marks m/);
});
