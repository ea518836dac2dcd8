// How much a page asks and holds: requests, rows in the document, time to the first rows.
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { send, sqlOf, until } from "./demo.mjs";
import { RECENT } from "./pages.mjs";
import { settled } from "./shots.mjs";
import { HELD, atLeast, inTime, longestStall, noteStalls } from "./times.mjs";

const hex = (number, width) => number.toString(16).padStart(width, "0");

export async function requestsOfAPage(page, world) {
  const [{ trace_id: id }] = await sqlOf(world.base, "SELECT trace_id FROM traces WHERE session_id IS NOT NULL ORDER BY spans DESC LIMIT 1");
  for (const path of ["/", "/explore", "/scores", "/scores/hallucination", "/alerts", "/lab/datasets", "/lab/experiments", "/lab/compare", "/lab/leaderboard", "/lab/playground", "/sampling", "/system", "/sql", `/trace/${id}`]) {
    const asked = [];
    const open = new Set();
    // The frame asks twice a tab: who is looking, and where the server's other endpoints are.
    const frame = new Set(["/v1/me", "/v1/status"]);
    const note = (request) => {
      const { pathname } = new URL(request.url());
      if (!pathname.startsWith("/v1/")) return;
      open.add(request);
      if (!frame.delete(pathname)) asked.push(pathname);
    };
    const ended = (request) => open.delete(request);
    await page.goto("about:blank");
    page.on("request", note).on("requestfinished", ended).on("requestfailed", ended);
    await page.goto(`${world.base}${path}#${RECENT}`);
    await settled(page);
    // An answer may lead to another question: what the page asks by itself has come when all is answered and nothing more is asked.
    let before = -1;
    while (asked.length !== before || open.size > 0) {
      before = asked.length;
      await page.waitForTimeout(400);
      // A page that is still at an answer has not asked yet.
      await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
    }
    await page.mouse.move(700, 600);
    for (let turn = 0; turn < 10; turn++) await page.mouse.wheel(0, 400);
    await page.waitForTimeout(200);
    page.off("request", note).off("requestfinished", ended).off("requestfailed", ended);
    assert.ok(before <= 6, `${path} asks ${before} times`);
    assert.equal(asked.length, before, `${path} asks again by scrolling`);
  }
}

/** A tree of so many spans; answers the trace's id once they are there. */
async function grown(world, count) {
  const trace = hex(0x10000 + count, 32);
  // Ids as tracers make them: numbers in a row would pack better than any.
  const id = (at) => hex(BigInt.asUintN(64, BigInt(at + 1) * 0x9e3779b97f4a7c15n), 16);
  const span = (at) => ({
    trace, id: id(at), name: `step ${at % 97}`, start: at * 1000, duration: 50_000,
    ...(at === 0 ? {} : { parent: id(Math.floor((at - 1) / 8)) }),
  });
  for (let at = 0; at < count; at += 1000) await send(world.otlp, "large", Array.from({ length: Math.min(1000, count - at) }, (_, n) => span(at + n)));
  await until("the spans are there", async () => Number((await sqlOf(world.base, `SELECT count(*) AS n FROM spans WHERE trace_id = '${trace}'`))[0].n) === count);
  return trace;
}

export async function aTraceOf10000Spans(page, world) {
  const trace = await grown(world, 10_000);
  const skeletons = [];
  page.on("response", async (response) => {
    if (response.request().postData()?.includes("parent_span_id, name")) skeletons.push(gzipSync(await response.body(), { level: 6 }).length / 1024);
  });
  await page.goto("about:blank");
  const started = performance.now();
  await page.goto(`${world.base}/trace/${trace}`);
  await page.waitForSelector("tr[role=row] .lane");
  const first = performance.now() - started;
  await settled(page);
  await until("the skeleton came", async () => skeletons.length > 0);
  const rows = await page.locator("tbody tr").count();
  await noteStalls(page);
  const frames = await framesWhileScrolling(page);
  const stall = await longestStall(page);
  const heap = await heapOf(page);
  console.log(`     10,000 spans: first rows ${Math.round(first)} ms, skeleton ${skeletons[0].toFixed(0)} KB gzip, ${rows} rows in the document, ${frames.toFixed(0)} frames/s and ${Math.round(stall)} ms the longest stall while scrolling, heap ${heap.toFixed(0)} MiB`);
  assert.ok(skeletons[0] <= 350, `skeleton of ${skeletons[0].toFixed(0)} KB`);
  assert.ok(rows <= 200, `${rows} rows in the document`);
  assert.ok(heap <= 150, "heap");
  inTime(first, 1000, 5000, "first rows, ms");
  atLeast(frames, 50, 5, "frames a second");
  inTime(stall, 100, 1000, "longest stall while scrolling, ms");
}

/** More spans than are drawn: the page says so and goes on. Where times are held it has a hundred thousand. */
export async function aLargerTrace(page, world) {
  const count = HELD ? 100_000 : 21_000;
  const trace = await grown(world, count);
  await page.goto(`${world.base}/trace/${trace}`);
  await page.waitForSelector("text=the first 20,000 spans; there are more");
  const rows = await page.locator("tbody tr").count();
  await page.getByRole("treegrid").focus();
  await page.keyboard.press("End");
  await page.waitForFunction(() => document.querySelector("tbody tr[role=row]:last-of-type, tbody tr:last-child")?.getAttribute("aria-selected") === "true");
  const heap = await heapOf(page);
  console.log(`     ${count} spans: ${rows} rows in the document, heap ${heap.toFixed(0)} MiB`);
  assert.ok(rows <= 200, `${rows} rows in the document`);
  assert.ok(heap <= 150, `heap of ${heap.toFixed(0)} MiB`);
}

export async function firstPaint(page, world) {
  const url = `${world.base}/#${RECENT}`;
  await page.goto(url);
  await settled(page);
  await page.goto("about:blank");
  const started = performance.now();
  await page.goto(url);
  await page.waitForSelector(".multiples canvas");
  await page.waitForSelector("table.quality tbody tr");
  const shown = performance.now() - started;
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0);
  await settled(page);
  const before = performance.now();
  await page.keyboard.press("g");
  await page.keyboard.press("y");
  await page.waitForFunction(() => document.querySelector("h1")?.textContent === "System");
  const switched = performance.now() - before;
  console.log(`     first page: painted after ${Math.round(paint)} ms, with its data after ${Math.round(shown)} ms; switch of page ${Math.round(switched)} ms`);
  inTime(paint, 300, 1500, "painted, ms");
  inTime(shown, 800, 5000, "with its data, ms");
  inTime(switched, 150, 1500, "switch of page, ms");
}

/** MiB of the page's scripts. */
async function heapOf(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const { metrics } = await session.send("Performance.getMetrics");
  await session.detach();
  return metrics.find(({ name }) => name === "JSHeapUsedSize").value / 1_048_576;
}

async function framesWhileScrolling(page) {
  return page.evaluate(() => new Promise((resolve) => {
    const box = document.querySelector(".scroll.waterfall");
    const started = performance.now();
    let frames = 0;
    const step = () => {
      box.scrollTop += 300;
      frames += 1;
      if (performance.now() - started < 1000) requestAnimationFrame(step);
      else resolve((frames * 1000) / (performance.now() - started));
    };
    requestAnimationFrame(step);
  }));
}

export async function tenThousandRows(page, world) {
  await page.goto(`${world.base}/sql#q=${encodeURIComponent("SELECT value AS n, value * 2 AS twice, 'text ' || value AS t FROM generate_series(1, 10000)")}`);
  await settled(page);
  let last = 0;
  page.on("requestfinished", (request) => request.url().endsWith("/v1/sql") && (last = performance.now()));
  await page.click("[data-run]");
  await page.waitForSelector("table[aria-label=Result]");
  const took = performance.now() - last;
  console.log(`     10,000 rows: shown ${Math.round(took)} ms after the last byte`);
  assert.equal(await page.locator("table[aria-label=Result]").getAttribute("aria-rowcount"), "10001");
  assert.ok((await page.locator("tbody tr").count()) <= 200);
  inTime(took, 500, 2000, "shown, ms");
}
