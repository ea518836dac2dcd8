// The browser's tests: `GROUNDLINE_BIN=… node e2e/run.mjs [name …]`. They start a demo of their own on free ports.
import { browser } from "./shots.mjs";
import { consoleOf, demo } from "./demo.mjs";
import * as access from "./access.mjs";
import * as drills from "./drills.mjs";
import * as first from "./first.mjs";
import * as flows from "./flows.mjs";
import * as graph from "./graph.mjs";
import * as hostile from "./hostile.mjs";
import * as lab from "./lab.mjs";
import * as links from "./links.mjs";
import * as long from "./long.mjs";
import * as playground from "./playground.mjs";
import * as reviewQueue from "./review-queue.mjs";
import * as silences from "./silences.mjs";
import * as tenants from "./tenants.mjs";
import * as visits from "./visits.mjs";
import * as weight from "./weight.mjs";

// What is no function is a name that tests share.
const TESTS = Object.fromEntries(Object.entries({ ...flows, ...links, ...drills, ...graph, ...hostile, ...long, ...lab, ...playground, ...reviewQueue, ...silences, ...tenants, ...first, ...weight, ...visits, ...access }).filter(([, test]) => typeof test === "function"));

const TOLD = process.env.TIMES === "told";
/** Seconds that a test may take. */
const LATE = TOLD ? 900 : 300;

async function one(name, test, chrome, world) {
  const context = await chrome.newContext({ viewport: { width: 1400, height: 900 }, colorScheme: "light", ...(test.context ?? {}) });
  // Where other work runs beside, all of it takes longer: what is waited for must come all the same.
  if (TOLD) context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(`page error: ${error}`));
  page.on("dialog", (dialog) => {
    faults.push(`a dialog opened: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    if (test.typed && message.text().startsWith("Applying inline style")) return;
    if (/Content Security Policy|Trusted Type/i.test(message.text())) faults.push(message.text());
  });
  page.on("request", (request) => {
    const url = request.url();
    if (![world.base, ...world.also].some((own) => url.startsWith(own)) && !url.startsWith("data:") && !url.startsWith("blob:") && url !== "about:blank") faults.push(`asked ${url}`);
  });
  const started = performance.now();
  try {
    await Promise.race([test(page, world), late(page)]);
    if (faults.length > 0) throw new Error(faults.slice(0, 5).join("\n"));
    console.log(`ok   ${name} (${Math.round(performance.now() - started)} ms)`);
    return true;
  } catch (error) {
    console.log(`FAIL ${name}: ${error.message} at ${page.url().slice(0, 200)}\n${faults.slice(0, 5).join("\n")}`);
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png` }).catch(() => {});
    return false;
  } finally {
    await context.close();
  }
}

/** A test that hangs is closed: what it waits for then fails. */
function late(page) {
  return new Promise((_, reject) => {
    const timer = setTimeout(() => reject(new Error(`took longer than ${LATE} s`)), LATE * 1000);
    page.on("close", () => clearTimeout(timer));
  });
}

const wanted = process.argv.slice(2);
const own = process.env.GROUNDLINE_URL ? undefined : await demo(process.env.GROUNDLINE_BIN ?? "groundline");
const http = process.env.GROUNDLINE_URL ?? own.http;
const { base, adapter } = await consoleOf(http);
const binary = process.env.GROUNDLINE_BIN ?? "groundline";
// `also`: servers that a test starts beside the demo.
const world = { base, otlp: process.env.GROUNDLINE_OTLP ?? own?.otlp, worst: own?.worst, binary, also: [] };
const chrome = await browser();
let failed = 0;
for (const [name, test] of Object.entries(TESTS)) {
  if (wanted.length === 0 || wanted.includes(name)) failed += (await one(name, test, chrome, world)) ? 0 : 1;
}
await chrome.close();
adapter?.close();
adapter?.closeAllConnections();
own?.child.kill("SIGINT");
console.log(failed === 0 ? "all hold" : `${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
