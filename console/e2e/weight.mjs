// How much a page asks and holds: requests, rows in the document, time to the first rows.
import assert from "node:assert/strict";
import { send, sqlOf, until } from "./demo.mjs";
import { DEMO } from "./flows.mjs";
import { settled } from "./shots.mjs";

const hex = (number, width) => number.toString(16).padStart(width, "0");

/** Times hold on a quiet machine; on a shared one (`TIMES=told`) they are only told. */
const inTime = (taken, most, what) => assert.ok(process.env.TIMES === "told" || taken < most, `${what}: ${Math.round(taken)} ms, at most ${most}`);

export async function requestsOfAPage(page, world) {
  const [{ trace_id: id }] = await sqlOf(world.base, "SELECT trace_id FROM traces WHERE session_id IS NOT NULL ORDER BY spans DESC LIMIT 1");
  for (const path of ["/", "/explore", "/scores", "/scores/hallucination", "/alerts", "/lab/datasets", "/lab/experiments", "/lab/compare", "/lab/leaderboard", "/lab/playground", "/sampling", "/system", "/sql", `/trace/${id}`]) {
    const asked = [];
    const note = (request) => request.url().includes("/v1/") && !request.url().endsWith("/v1/me") && asked.push(request.url());
    await page.goto("about:blank");
    page.on("request", note);
    await page.goto(`${world.base}${path}#${DEMO}`);
    await settled(page);
    // An answer may lead to another question: what the page asks by itself has come when nothing more is asked.
    let before = -1;
    while (asked.length !== before) {
      before = asked.length;
      await page.waitForTimeout(400);
    }
    await page.mouse.move(700, 600);
    for (let turn = 0; turn < 10; turn++) await page.mouse.wheel(0, 400);
    await page.waitForTimeout(200);
    page.off("request", note);
    assert.ok(before <= 6, `${path} asks ${before} times`);
    assert.equal(asked.length, before, `${path} asks again by scrolling`);
  }
}

export async function aTraceOf10000Spans(page, world) {
  const trace = hex(0x10000, 32);
  const spans = Array.from({ length: 10_000 }, (_, at) => ({
    trace, id: hex(at + 1, 16), name: `step ${at % 97}`, start: at * 1000, duration: 50_000,
    ...(at === 0 ? {} : { parent: hex(Math.floor((at - 1) / 8) + 1, 16) }),
  }));
  for (let at = 0; at < spans.length; at += 1000) await send(world.otlp, "large", spans.slice(at, at + 1000));
  await until("the spans are there", async () => Number((await sqlOf(world.base, `SELECT count(*) AS n FROM spans WHERE trace_id = '${trace}'`))[0].n) === 10_000);
  await page.goto("about:blank");
  const started = performance.now();
  await page.goto(`${world.base}/trace/${trace}`);
  await page.waitForSelector("tr[role=row] .lane");
  const first = performance.now() - started;
  await settled(page);
  const rows = await page.locator("tbody tr").count();
  const frames = await framesWhileScrolling(page);
  const { JSHeapUsedSize: heap } = await metrics(page);
  console.log(`     10,000 spans: first rows ${Math.round(first)} ms, ${rows} rows in the document, ${frames.toFixed(0)} frames/s, heap ${(heap / 1048576).toFixed(0)} MiB`);
  assert.ok(rows <= 200, `${rows} rows in the document`);
  assert.ok(heap <= 150 * 1048576, "heap");
}

export async function firstPaint(page, world) {
  const url = `${world.base}/#${DEMO}`;
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
  console.log(`     first page: painted after ${Math.round(paint)} ms, with its data after ${Math.round(shown)} ms; switch of page ${Math.round(performance.now() - before)} ms`);
  inTime(paint, 1500, "painted");
  inTime(shown, 5000, "with its data");
}

async function metrics(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const { metrics: list } = await session.send("Performance.getMetrics");
  await session.detach();
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
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
  inTime(took, 2000, "shown");
}
