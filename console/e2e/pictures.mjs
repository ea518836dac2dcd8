// The pictures of the documents, from the demo's data: `GROUNDLINE_BIN=… node e2e/pictures.mjs [name …]` writes docs/img/console-*.png.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { DEMO, consoleOf, demo, sqlOf } from "./demo.mjs";
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

/** The span with the most boxes under it. */
async function graph(base) {
  const [{ trace_id: id }] = await sqlOf(base, "SELECT trace_id, count(*) AS n FROM spans WHERE operation IN ('llm', 'tool', 'agent') GROUP BY 1 ORDER BY n DESC, 1 LIMIT 1");
  return `/trace/${id}#view=graph`;
}

/** Two of the three applications of the leaderboard, item by item. */
async function compare(base) {
  const { experiments } = await (await fetch(`${base}/v1/lab/experiments`)).json();
  const of = (name) => experiments.find((each) => each.name === name).experiment_id;
  return `/lab/compare#new=${of("v2")}&baseline=${of("v1")}`;
}

const SQL = "SELECT date_bin(INTERVAL '5 minutes', span_time) AS t, quality_rate(passed, inclusion_probability)['estimate'] AS rate, quality_rate(passed, inclusion_probability)['lower'] AS lower, quality_rate(passed, inclusion_probability)['upper'] AS upper FROM scores_latest WHERE metric = 'hallucination' GROUP BY 1 ORDER BY 1";

/** What is shown, and what is done first where the address is not enough. */
const PICTURES = {
  quality: async () => `/#${DEMO}`,
  trace,
  graph,
  explorer: async () => `/explore#${DEMO}`,
  scores: async () => `/scores/hallucination#${DEMO}`,
  alerts: async () => "/alerts",
  review: async () => "/review",
  leaderboard,
  compare,
  sampling: async () => "/sampling",
  system: async () => "/system",
  sql: async () => `/sql#q=${encodeURIComponent(SQL)}`,
};
const FIRST = {
  sql: async (page) => {
    await page.waitForSelector(".cm-content");
    await page.click("[data-run]");
    await page.waitForSelector("text=/rows? in/");
    await page.getByRole("button", { name: "Plot" }).click();
    await page.getByRole("slider").waitFor();
  },
};

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
  await FIRST[name]?.(page);
  await page.screenshot({ path: join(folder, `console-${name}.png`) });
  await context.close();
}
await chrome.close();
adapter?.close();
adapter?.closeAllConnections();
own.child.kill("SIGINT");
