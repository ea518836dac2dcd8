// What a page takes to show itself, one by one, and what a tab holds that is never reloaded.
import assert from "node:assert/strict";
import { drawn, paths } from "./pages.mjs";
import { inTime } from "./times.mjs";

/** Each page as the first one that a browser opens: nothing is in its cache. */
export async function firstViews(page, world) {
  const told = [];
  for (const path of await paths(world)) {
    const context = await page.context().browser().newContext({ viewport: { width: 1400, height: 900 } });
    const fresh = await context.newPage();
    const started = performance.now();
    await fresh.goto(world.base + path);
    await drawn(fresh);
    const shown = performance.now() - started;
    const paint = await fresh.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0);
    await context.close();
    told.push([path.split("#")[0].replace(/[0-9a-f]{32}/, "…"), paint, shown]);
  }
  for (const [path, paint, shown] of told) console.log(`     first view ${path.padEnd(24)} painted ${String(Math.round(paint)).padStart(5)} ms, with its data ${String(Math.round(shown)).padStart(5)} ms`);
  assert.ok(told.every(([, paint]) => paint > 0), "every page paints");
  for (const [path, paint, shown] of told) {
    inTime(paint, 300, 1500, `${path} painted, ms`);
    inTime(shown, 800, 5000, `${path} with its data, ms`);
  }
}

const MIB = 1_048_576;

/** What the tab holds once nobody needs the rest. */
async function held(session) {
  for (let turn = 0; turn < 3; turn++) await session.send("HeapProfiler.collectGarbage");
  const { metrics } = await session.send("Performance.getMetrics");
  const of = (wanted) => metrics.find(({ name }) => name === wanted).value;
  return { heap: of("JSHeapUsedSize") / MIB, nodes: of("Nodes"), listeners: of("JSEventListeners") };
}

/** A tab that walks through all pages five times: what it holds at the end is what it held after the first round. */
export async function fiftyVisits(page, world) {
  const all = await paths(world);
  await page.goto(world.base + all[0]);
  await drawn(page);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const round = async () => {
    for (const path of all) {
      await page.evaluate((to) => {
        history.pushState(null, "", to);
        dispatchEvent(new PopStateEvent("popstate"));
      }, path);
      await page.waitForFunction((wanted) => location.href.endsWith(wanted), path);
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true)))));
      await drawn(page);
    }
    // The same page is the last each time, so that what is shown does not count.
    return held(session);
  };
  const rounds = [];
  for (let turn = 0; turn < 5; turn++) rounds.push(await round());
  const [first, last] = [rounds[0], rounds.at(-1)];
  const told = rounds.map(({ heap, nodes, listeners }) => `${heap.toFixed(1)} MiB, ${nodes} nodes, ${listeners} listeners`);
  console.log(`     ${all.length * rounds.length} visits, after each round: ${told.join("; ")}`);
  assert.ok(last.heap <= 32, `heap of ${last.heap.toFixed(1)} MiB`);
  assert.ok(last.heap - first.heap <= 6, `the heap grows: ${told.join("; ")}`);
  // A page that stayed behind once a round would be hundreds of nodes.
  assert.ok(last.nodes <= first.nodes + 200, `nodes stay behind: ${told.join("; ")}`);
  assert.ok(last.listeners <= first.listeners + 60, `listeners stay behind: ${told.join("; ")}`);
}
