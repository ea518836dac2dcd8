import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { interval, rate, nanos, duration, bytes, numberOf, seconds, within } = await load("src/lib/format.ts");
const { visible, cut, safeLink, line } = await load("src/lib/text.ts");
const { csv } = await load("src/lib/csv.ts");

test("an estimate is written with its interval and n; none is no zero", () => {
  assert.equal(interval({ estimate: 0.91, lower: 0.87, upper: 0.94, n: 1240 }), "0.91 [0.87, 0.94] n 1,240");
  assert.equal(interval({ estimate: null, lower: null, upper: null, n: 7 }), "too few (n 7)");
  assert.equal(interval({ estimate: 0, lower: 0, upper: null, n: 3 }), "0.00 [0.00, ?] n 3");
  assert.equal(rate(0.9994), "0.999");
  assert.equal(rate(0.0004), "<0.001");
  assert.equal(rate(1), "1.00");
});

test("nanoseconds are kept", () => {
  assert.equal(nanos("2026-11-21T09:28:35.756420240Z") - nanos("2026-11-21T09:28:35.756420239Z"), 1n);
  assert.equal(nanos("2026-11-21T09:28:35Z"), BigInt(Date.UTC(2026, 10, 21, 9, 28, 35)) * 1_000_000n);
  assert.equal(nanos("never"), undefined);
  assert.equal(numberOf("9007199254740993"), 9007199254740992);
  assert.equal(numberOf("abc"), null);
});

test("durations and sizes are short", () => {
  assert.deepEqual([duration(812), duration(46_169), duration(3_521_439), duration(2.5e9), seconds(178_239)], ["812 ns", "46.2 µs", "3.52 ms", "2.5 s", "2 d 2 h"]);
  assert.deepEqual([119.7, 7_199, 172_799, 90].map(seconds), ["2 min 0 s", "2 h 0 min", "2 d 0 h", "1 min 30 s"]);
  assert.deepEqual([bytes(512), bytes(1536), bytes(211_343_184)], ["512 B", "1.5 KiB", "202 MiB"]);
});

test("hidden characters become marks", () => {
  assert.equal(visible("a\u202eb\u0000c\tn\n"), "a⟨U+202E⟩b⟨U+0000⟩c\tn\n");
  assert.equal(line("a\n\n b\u200b"), "a b⟨U+200B⟩");
  assert.equal(cut("ab😀", 3).head, "ab");
});

test("only http and https become links", () => {
  assert.equal(safeLink("https://example.org/a"), "https://example.org/a");
  for (const text of ["javascript:alert(1)", " https://x", "data:text/html,x", "//x.example", "https://\u202ex"]) {
    assert.equal(safeLink(text), undefined, text);
  }
});

test("a cell of CSV is no formula", () => {
  const table = { columns: [{ name: "a" }, { name: "n" }], data: [["=1+1", 'x"y', null], [-1, 2, 3]], rows: 3 };
  assert.equal(csv(table), "a,n\r\n'=1+1,-1\r\n\"x\"\"y\",2\r\n,3\r\n");
  const large = { columns: [{ name: "n", type: "bigint" }], data: [["-9007199254740993", "-Infinity", "-1.5e-9", "-cmd", "-1+2"]], rows: 5, elapsed_ms: 1 };
  assert.equal(csv(large), "n\r\n-9007199254740993\r\n-Infinity\r\n-1.5e-9\r\n'-cmd\r\n'-1+2\r\n", "a number that comes as text stays one");
});

test("an estimate with a unit has its interval and its n, and is never 0 where there is none", () => {
  const ms = (each) => `${each} ms`;
  assert.equal(within({ estimate: 812, lower: 700, upper: null, n: 60 }, ms), "812 ms [700 ms, ?] n 60");
  assert.equal(within({ estimate: null, lower: null, upper: null, n: 1 }, ms), "too few (n 1)");
});
