import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { certificateLasts, diskLasts } = await load("src/lib/lasting.ts");

const NOW = Date.parse("2026-12-01T00:00:00Z");

test("a disk says when it is full at this rate, and what is not known is not guessed", () => {
  const growth = { free_bytes: 1, total_bytes: 2, observed_seconds: 21_600, growth_per_day_bytes: 3 * 1024 ** 3 };
  assert.deepEqual(diskLasts({ ...growth, full_at: "2026-12-11T12:00:00Z" }, NOW), { text: "full in 10 d 12 h at 3.0 GiB a day", urgent: false });
  assert.equal(diskLasts({ ...growth, full_at: "2026-12-03T00:00:00Z" }, NOW).urgent, true);
  assert.equal(diskLasts({ ...growth, full_at: null }, NOW).text, "lasts for years at 3.0 GiB a day");
  assert.equal(diskLasts({ ...growth, growth_per_day_bytes: -5, full_at: null }, NOW).text, "is not filling up");
  assert.equal(diskLasts({ observed_seconds: 600, growth_per_day_bytes: null, full_at: null }, NOW).text, "how long it lasts is known in 50 min");
  assert.equal(diskLasts({ observed_seconds: 3600, growth_per_day_bytes: null }, NOW).text, "how long it lasts is not known");
  assert.equal(diskLasts(null, NOW).urgent, false);
});

test("a certificate says when it ends, urgently two weeks before; no certificate says nothing", () => {
  assert.deepEqual(certificateLasts({ certificate_ends: "2027-01-01T00:00:00Z" }, NOW), { text: "ends in 31 d 0 h", urgent: false });
  assert.deepEqual(certificateLasts({ certificate_ends: "2026-12-14T00:00:00Z" }, NOW), { text: "ends in 13 d 0 h", urgent: true });
  assert.deepEqual(certificateLasts({ certificate_ends: "2026-11-30T00:00:00Z" }, NOW), { text: "ended 1 d 0 h ago", urgent: true });
  assert.deepEqual(certificateLasts({ certificate_ends: null }, NOW), { text: "its end could not be read", urgent: false });
  assert.equal(certificateLasts(null, NOW), null);
});
