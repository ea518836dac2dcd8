// The pictures of the documents, from the demo's data: `GROUNDLINE_BIN=… node e2e/pictures.mjs [name …]` writes docs/img/console-*.png.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { consoleOf, demo, sqlOf } from "./demo.mjs";
import { DEMO } from "./flows.mjs";
import { experiment, post } from "./lab-data.mjs";
import { browser, settled } from "./shots.mjs";

const folder = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "docs", "img");

async function trace(base) {
  const [{ trace_id: id, span_id: span }] = await sqlOf(base, "SELECT trace_id, span_id FROM scores_latest WHERE metric = 'hallucination' AND status = 'ok' AND rationale NOT LIKE '%(prompt)%' ORDER BY value, trace_id LIMIT 1");
  return `/trace/${id}#span=${span}&view=conversation`;
}

/** Three applications of which the intervals leave open which of two is the better one. */
async function leaderboard(base) {
  await post(base, "/v1/lab/datasets", { name: "numbers" });
  const put = Array.from({ length: 60 }, (_, at) => ({ external_id: String(at), input: `Which number is ${at}?`, expected: String(at) }));
  await post(base, "/v1/lab/datasets/numbers/items", { put });
  const expected = put.map((item) => item.expected);
  const answers = (wrong) => put.map((item, at) => (wrong(at) ? "none" : item.expected));
  for (const [name, wrong] of [["v1", (at) => at % 3 === 0], ["v2", (at) => at % 20 === 0], ["v3", (at) => at % 30 === 0]]) await experiment(base, "numbers", name, answers(wrong), name === "v1", expected);
  return "/lab/leaderboard";
}

const PICTURES = { quality: async () => `/#${DEMO}`, trace, leaderboard };

const own = await demo(process.env.GROUNDLINE_BIN ?? "groundline");
const { base, adapter } = await consoleOf(own.http);
const chrome = await browser();
const wanted = process.argv.slice(2);
for (const [name, of] of Object.entries(PICTURES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const context = await chrome.newContext({ viewport: { width: 1400, height: 900 }, colorScheme: "light", timezoneId: "UTC" });
  const page = await context.newPage();
  await page.goto(base + (await of(base)));
  await settled(page);
  await page.screenshot({ path: join(folder, `console-${name}.png`) });
  await context.close();
}
await chrome.close();
adapter?.close();
adapter?.closeAllConnections();
own.child.kill("SIGINT");
