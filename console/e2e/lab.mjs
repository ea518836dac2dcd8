// The lab: a dataset with versions, two experiments, and the comparison that opens compared.
import assert from "node:assert/strict";
import { settled } from "./shots.mjs";

async function post(base, path, body) {
  const response = await fetch(base + path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

const CAPITALS = [["France", "Paris"], ["Spain", "Madrid"], ["Italy", "Rome"], ["Japan", "Tokyo"]];

async function experiment(base, dataset, name, answers, baseline) {
  const { experiment_id: id } = await post(base, "/v1/lab/experiments", { name, dataset, target: { kind: "existing" }, evaluators: [], repetitions: 1, baseline });
  const todo = await (await fetch(`${base}/v1/lab/experiments/${id}/todo`)).json();
  const answer = ({ item_id, repetition, attempt, external_id: at }) => {
    const right = answers[Number(at)] === CAPITALS[Number(at)][1];
    return { item_id, repetition, attempt, output: `The capital is ${answers[Number(at)]}.`, scores: [{ name: "right", value: right ? 1 : 0, passed: right, rationale: "held against what is expected" }] };
  };
  await post(base, `/v1/lab/experiments/${id}/runs`, todo.map(answer));
  return id;
}

export async function lab(page, world) {
  const { base } = world;
  const dataset = `capitals ${Date.now()}`;
  await post(base, "/v1/lab/datasets", { name: dataset, description: "<b>capitals</b>" });
  const item = ([country, expected], at) => ({ external_id: String(at), input: `What is the capital of ${country}?`, expected });
  await post(base, `/v1/lab/datasets/${encodeURIComponent(dataset)}/items`, { put: CAPITALS.slice(0, 3).map(item), message: "three" });
  await post(base, `/v1/lab/datasets/${encodeURIComponent(dataset)}/items`, { put: [item(CAPITALS[3], 3)], message: "Japan" });
  const first = await experiment(base, dataset, "v1", ["Paris", "Madrid", "Rome", "Kyoto"], true);
  const second = await experiment(base, dataset, "v2", ["Paris", "Barcelona", "Rome", "Tokyo"], false);

  await page.goto(`${base}/lab/datasets`);
  await page.getByRole("link", { name: dataset }).click();
  await page.waitForSelector("section[aria-label='From version 2 to 3']");
  await settled(page);
  assert.equal(await page.getByRole("group", { name: "Items" }).locator("tbody tr").count(), 4);
  assert.match(await page.getByRole("group", { name: "What changed" }).innerText(), /added[\s\S]*Japan/);
  await page.getByRole("group", { name: "Versions" }).getByRole("link", { name: "2" }).click();
  await page.waitForSelector("text=an old version, to read");

  await page.goto(`${base}/lab/experiments#experiment=${second}`);
  await page.waitForSelector("text=4 of 4 runs of 4 items");
  assert.ok(await page.getByText("0.75").first().isVisible());
  await page.getByRole("link", { name: "Compare", exact: true }).last().click();
  await page.waitForSelector("section[aria-label=Regressions]");
  assert.equal(await page.getByRole("combobox", { name: "against" }).inputValue(), first, "the baseline picks itself");
  assert.ok(await page.getByText("no difference shown").isVisible());
  assert.deepEqual(await page.locator("section h3").allInnerTexts(), ["↓ Regressions 1", "↑ Improvements 1"]);
  await page.locator("section[aria-label=Regressions] summary").focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector("ins");
  assert.equal((await page.locator("del").innerText()).trim(), "Madrid.");
  assert.equal((await page.locator("ins").innerText()).trim(), "Barcelona.");
  await page.waitForSelector("text=held against what is expected");
  assert.match(page.url(), /item=/);
}
