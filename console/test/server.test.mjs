import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { portOf, psqlLine, reachOf, ways } = await load("src/lib/server.ts");
const { objectivesOf } = await load("src/lib/objectives.ts");
const { marksOf } = await load("src/lib/marks.ts");

const plain = { hostname: "box", protocol: "http:" };
const endpoints = [{ door: "OTLP/gRPC", address: "0.0.0.0:1" }, { door: "OTLP/HTTP", address: "127.0.0.1:40318" }, { door: "PostgreSQL", address: "[::1]:45433" }];

test("a line for psql has the server's own port, and says TLS and token where they are needed", () => {
  const server = { endpoints, configuration: { server: { tls: { cert: "" } } } };
  assert.equal(portOf(server, /^postgresql$/i), "45433");
  assert.equal(portOf(server, /otlp.*http/i), "40318");
  assert.equal(psqlLine("SELECT 'it''s'\n  FROM spans", reachOf(server, plain, false), "45433"), `psql -h box -p 45433 -c 'SELECT '\\''it'\\'''\\''s'\\'' FROM spans'`);
  const safe = { endpoints, configuration: { server: { tls: { cert: "c.pem" } } } };
  assert.equal(psqlLine("SELECT 1", reachOf(safe, plain, true), "5433"), `PGPASSWORD="$GROUNDLINE_TOKEN" PGSSLMODE=verify-full PGSSLROOTCERT=ca.pem psql -h box -p 5433 -c 'SELECT 1'`);
});

test("what the server does not tell is not made up", () => {
  assert.equal(portOf(undefined, /x/), undefined);
  assert.match(psqlLine("SELECT 1", reachOf(undefined, plain, false), undefined), /-p "\$\{PGPORT:-5433\}" /);
  assert.equal(reachOf(undefined, { hostname: "box", protocol: "https:" }, false).tls, true);
  assert.equal(reachOf({ configuration: { server: { tls: { cert: "" } } } }, { hostname: "box", protocol: "https:" }, false).tls, false, "a proxy's TLS is not the server's");
});

test("the ways to send a first span fit TLS and tokens", () => {
  for (const [name, text] of ways({ host: "box", tls: true, token: true }, "40318")) {
    assert.match(text, /https:\/\/box:40318/, name);
    assert.match(text, /\$GROUNDLINE_TOKEN/, name);
    assert.match(text, /ca\.pem/, name);
  }
  for (const [name, text] of ways({ host: "box", tls: false, token: false }, "4318")) assert.doesNotMatch(text, /https|TOKEN|ca\.pem/, name);
});

test("the objectives of a metric's alerts are lines, each with the name of its alert", () => {
  const alerts = [
    { name: "drift", metric: "m", objective: 0.9, filter: "" }, { name: "shop", metric: "m", objective: 0.95, filter: "service_name = 'shop'" },
    { name: "learned", metric: "m", objective: null, method: "change" }, { name: "other", metric: "n", objective: 0.5 },
  ];
  assert.deepEqual(objectivesOf(alerts, "m"), [{ y: 0.9, text: "drift wants 0.90", short: "≥ 0.90" }, { y: 0.95, text: "shop wants 0.95 where service_name = 'shop'", short: "≥ 0.95" }]);
  assert.deepEqual(objectivesOf(undefined, "m"), []);
});

test("marks are versions after the first of their name, and alerts of the metric", () => {
  const row = (kind, name, version, second) => ({ kind, name, version, at: `2026-11-21T09:00:0${second}Z` });
  const rows = [
    row("bucket", null, null, 0), row("evaluator", "e", "1", 0), row("evaluator", "f", "1", 1), row("deployment", "shop", "v1", 1), row("evaluator", "e", "2", 2),
    row("evaluator", "f", "2", 3), row("deployment", "shop", "v2", 4), row("alert", "m", "firing model=b", 5), row("alert", "n", "firing", 6),
  ];
  assert.deepEqual(marksOf(rows, "e", "m").map((mark) => mark.text), ["evaluator 2", "deploy v2", "alert firing model=b"]);
  assert.deepEqual(marksOf(rows, "", "m").map((mark) => mark.text), ["evaluator 2", "evaluator 2", "deploy v2", "alert firing model=b"], "of all evaluators where none is named");
});
