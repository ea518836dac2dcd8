import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { isOther } = await load("src/lib/who.ts");

const ana = { name: "ana", tenant: null, roles: ["query", "admin"], tenants: ["a", "b"], needs_token: true };

test("who logs in after somebody else, or with other rights, starts with nothing of what the tab held", () => {
  assert.equal(isOther({ ...ana, roles: ["admin", "query"] }, ana), false);
  assert.deepEqual([isOther(undefined, ana), isOther(null, ana)], [false, false], "nobody was known before");
  assert.equal(isOther(ana, { ...ana, name: "ben" }), true);
  assert.equal(isOther(ana, { ...ana, tenant: "a" }), true);
  assert.equal(isOther(ana, { ...ana, roles: ["query"] }), true);
});
