// A queue over an experiment, by keyboard alone: two people answer blind, a third decides where they differ, and a file tells it.
import assert from "node:assert/strict";
import { violations } from "./axe.mjs";
import { until } from "./demo.mjs";
import { CAPITALS, experiment, post } from "./lab-data.mjs";
import { settled } from "./shots.mjs";

const read = async (base, path) => (await fetch(base + path)).json();

/** Sits down as somebody, in front of a queue. */
async function sit(page, base, path, who) {
  await page.evaluate((name) => localStorage.setItem("groundline.reviewer", name), who);
  await page.goto("about:blank");
  await page.goto(`${base}${path}`);
  await settled(page);
  assert.equal(await page.getByRole("textbox", { name: "Your name" }).inputValue(), who);
  await page.locator("main").focus();
  await page.waitForSelector("article[aria-label=Item]");
}

/** The question at hand, once it is that one. */
const at = (page, title) => page.locator(`[data-at][aria-label*="${title}"]`).waitFor();

/** Answers the item at hand, pass or fail of its score, a class, and a note, and waits until it is gone. */
async function say(page, verdict, tone, note) {
  const asked = await page.locator("article[aria-label=Item]").getByText(/What is the capital of/).first().innerText();
  await page.keyboard.press(verdict);
  await at(page, "tone");
  await page.keyboard.press(tone);
  await at(page, "note");
  await page.keyboard.press("e");
  await page.waitForFunction(() => document.activeElement?.matches("[data-at] .answer"));
  await page.keyboard.type(note);
  await page.keyboard.press("Control+Enter");
  await page.waitForFunction((text) => !document.querySelector("article[aria-label=Item]")?.textContent.includes(text), asked);
  await page.locator("main").focus();
}

/** The second one thinks otherwise of the last item alone, takes an answer back in between, and leaves before the last is confirmed. */
async function second(page, base, id, counts) {
  await sit(page, base, `/review/${id}`, "ben");
  await say(page, "2", "2", "wrong key");
  await until("an answer", async () => (await counts()).adjudicate === 1);
  await page.keyboard.press("u");
  await until("it is taken back", async () => (await counts()).adjudicate === 0);
  for (let n = 0; n < 3; n++) await say(page, "1", "1", "");
  await page.locator(".unsent").waitFor({ state: "detached" });
  // The server has the last one, and the page never hears so: the answer waits in the tab.
  await page.route("**/answer", (route) => route.fetch());
  await say(page, "2", "1", "");
  await until("three labels and one that differs", async () => {
    const { final: labelled, adjudicate } = await counts();
    return labelled === 3 && adjudicate === 1;
  });
  await page.goto(`${base}/review`);
  await page.unroute("**/answer");
}

export async function queue(page, world) {
  const { base } = world;
  const dataset = `reviewed ${Date.now()}`;
  await post(base, "/v1/lab/datasets", { name: dataset });
  const put = CAPITALS.map(([country, expected], at) => ({ external_id: String(at), input: `What is the capital of ${country}?`, expected }));
  await post(base, `/v1/lab/datasets/${encodeURIComponent(dataset)}/items`, { put });
  const run = await experiment(base, dataset, dataset, ["Paris", "Madrid", "Rome", "Kyoto"], false);
  const templates = [{ name: "tone", type: "categorical", categories: ["polite", "rude"] }, { name: "note", type: "free_text", optional: true }];
  const { queue_id: id, items } = await post(base, "/v1/lab/queues", { name: dataset, source: { experiment: run }, reviews_per_item: 2, templates });
  assert.equal(items, 4);
  const counts = async () => (await read(base, `/v1/lab/queues/${id}`)).counts;

  await page.goto(`${base}/review`);
  // Who only looks would hold items that others wait for.
  await page.evaluate(() => localStorage.setItem("groundline.reviewer", "ana"));
  await page.getByRole("group", { name: "Queues of review" }).getByRole("link", { name: dataset }).click();
  await page.waitForSelector("article[aria-label=Item]");
  await sit(page, base, `/review/${id}`, "ana");
  await page.waitForSelector("text=/What is the capital of/");
  assert.equal(await page.getByText(/client\/right says/).count(), 0, "nothing says what the evaluator thinks");
  assert.deepEqual((await violations(page)).map((each) => `${each.id} ${each.nodes[0]}`), []);
  for (let n = 0; n < 4; n++) await say(page, "1", "1", `ana ${n}`);
  await page.waitForSelector("text=Nothing to do");
  await page.waitForSelector("text=/Last item: waits for more answers/");
  await page.waitForSelector("text=/client\\/right said (pass|fail)/");

  await second(page, base, id, counts);

  await sit(page, base, `/review/${id}#mode=decide`, "cleo");
  assert.equal(await page.getByText(/Last item/).count(), 0, "what is told of an answer is for who gave it");
  const said = page.getByRole("group", { name: "Answers side by side" });
  await said.waitFor();
  assert.match(await said.locator("tbody tr").first().innerText(), /right/, "what differs stands first");
  await say(page, "2", "1", "decided");
  await until("every item has its label", async () => (await counts()).final === 4);
  await page.waitForSelector("text=Nothing to do");

  await exported(base, id);
}

async function exported(base, id) {
  const csv = await (await fetch(`${base}/v1/lab/queues/${id}/export`)).text();
  assert.match(csv, /^Run Id,Run Name,Run Review Status/);
  assert.equal(csv.split("\n").filter((line) => line.includes("Auto-eval review")).length, 9, "eight answers and the decision");
}
