import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { activeOf, silencesOf, snippet } = await load("src/lib/silences.ts");
const at = Date.parse("2026-11-23T12:00:30.500Z");

test("silences are active, ahead or over, in this order", () => {
  const alerts = [
    { name: "a", silences: ["2026-11-01T00:00:00Z/2026-11-02T00:00:00Z", "2026-11-23T12:00:00Z/2026-11-23T13:00:00Z", "soon"] },
    { name: "b", silences: ["2026-12-24T00:00:00+01:00/2026-12-27T00:00:00Z"] }, { name: "c" },
  ];
  const all = silencesOf(alerts, at);
  assert.deepEqual(all.map((each) => [each.alert, each.when]), [["a", "active"], ["b", "ahead"], ["a", "over"]]);
  assert.equal(activeOf(all, "a")?.to, Date.parse("2026-11-23T13:00:00Z"));
  assert.equal(activeOf(all, "b"), undefined);
  assert.equal(silencesOf(alerts, Date.parse("2026-11-23T13:00:00Z"))[0].when, "ahead", "the end is outside");
});

test("the lines keep what still holds, and a reason cannot leave its comment", () => {
  const all = silencesOf([{ name: "a", silences: ["2026-11-01T00:00:00Z/2026-11-02T00:00:00Z", "2026-12-24T00:00:00Z/2026-12-27T00:00:00Z"] }], at);
  assert.equal(snippet("a", 4, "deploy\nsilences = []\u202e", at, all), [
    '# in [[alerts]] name = "a"', "silences = [", '    "2026-12-24T00:00:00Z/2026-12-27T00:00:00Z",',
    '    "2026-11-23T12:00:30Z/2026-11-23T16:00:30Z",  # deploy silences = []', "]", "",
  ].join("\n"));
  assert.match(snippet('a"\n', 1, "", at, []), /name = "a\\"\\n"\n/);
});
