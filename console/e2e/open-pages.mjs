// What a server holds for fifty pages that are open at once and asked again: `GROUNDLINE_BIN=… node e2e/open-pages.mjs [rounds]`.
import { readFileSync } from "node:fs";
import { consoleOf, demo } from "./demo.mjs";
import { drawn, paths } from "./pages.mjs";
import { browser } from "./shots.mjs";

const PAGES = 50;
const rounds = Number(process.argv[2] ?? 10);
const own = await demo(process.env.GROUNDLINE_BIN ?? "groundline");
const { base, adapter } = await consoleOf(own.http);
const chrome = await browser();

/** MiB of the server, now and at its most. */
function memory() {
  const status = readFileSync(`/proc/${own.child.pid}/status`, "utf8");
  const of = (name) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)[1]) / 1024);
  return { now: of("VmRSS"), most: of("VmHWM") };
}

const told = (what) => {
  const { now, most } = memory();
  console.log(`${what}: the server holds ${now} MiB, ${most} MiB at its most`);
};

told("no page is open");
const all = await paths({ base });
const pages = [];
for (let at = 0; at < PAGES; at++) {
  const page = await (await chrome.newContext({ viewport: { width: 1400, height: 900 } })).newPage();
  await page.goto(base + all[at % all.length]);
  await drawn(page);
  pages.push(page);
}
told(`${PAGES} pages are open`);
let asked = 0;
for (const page of pages) page.on("response", () => (asked += 1));
for (let round = 1; round <= rounds; round++) {
  await Promise.all(pages.map(async (page) => {
    await page.keyboard.press("r");
    await drawn(page);
  }));
  told(`round ${round}, ${asked} answers`);
}
await chrome.close();
adapter?.close();
adapter?.closeAllConnections();
own.child.kill("SIGINT");
