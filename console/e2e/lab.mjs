// The lab: a dataset with versions, experiments, the comparison that opens compared, and the leaderboard.
import assert from "node:assert/strict";
import { violations } from "./axe.mjs";
import { counted } from "./demo.mjs";
import { CAPITALS, experiment, post } from "./lab-data.mjs";
import { settled } from "./shots.mjs";

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
  await counted(page.getByRole("group", { name: "Items" }).locator("tbody tr"), 4);
  assert.match(await page.getByRole("group", { name: "What changed" }).innerText(), /added[\s\S]*Japan/);
  await page.getByRole("group", { name: "Versions" }).getByRole("link", { name: "2" }).click();
  await page.waitForSelector("text=an old version, to read");

  await page.goto(`${base}/lab/experiments#experiment=${second}`);
  await page.waitForSelector("text=4 of 4 runs of 4 items");
  await page.getByText("0.75").first().waitFor();
  await page.getByRole("link", { name: "Compare", exact: true }).last().click();
  await page.waitForSelector("section[aria-label=Regressions]");
  assert.equal(await page.getByRole("combobox", { name: "against" }).inputValue(), first, "the baseline picks itself");
  await page.getByText("no difference shown").waitFor();
  assert.deepEqual(await page.locator("section h3").allInnerTexts(), ["↓ Regressions 1", "↑ Improvements 1"]);
  await page.locator("section[aria-label=Regressions] summary").getByText("What is the capital of Spain?").waitFor();
  await page.locator("section[aria-label=Regressions] summary").focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector("ins");
  assert.equal((await page.locator("del").innerText()).trim(), "Madrid.");
  assert.equal((await page.locator("ins").innerText()).trim(), "Barcelona.");
  await page.waitForSelector("text=held against what is expected");
  assert.match(page.url(), /item=/);
  await numbersOfTheLab(page, second);
}

/** A difference leads to the items that moved in it, an estimate to the runs that it counts. */
async function numbersOfTheLab(page, second) {
  const cells = page.getByRole("group", { name: "Differences by metric" }).locator("tbody tr").first();
  await cells.getByRole("link", { name: /n 4$/ }).click();
  await page.getByText("Only those that moved in right").waitFor();
  await counted(page.locator("details.moved"), 2);
  await cells.getByRole("link", { name: "0.75", exact: true }).last().click();
  await page.waitForFunction((wanted) => location.pathname === "/lab/experiments" && location.hash.includes(`experiment=${wanted}`), second);
  await page.getByText("Only those with a score of right").waitFor();
  await settled(page);
  assert.deepEqual((await page.locator("details.moved summary").allInnerTexts()).map((text) => text.includes("failed")), [true, false, false, false], "what failed first");
  assert.deepEqual((await violations(page)).map((each) => `${each.id} ${each.nodes[0]}`), []);
  await page.getByRole("button", { name: "All", exact: true }).click();
  await page.waitForFunction(() => !location.hash.includes("metric="));
}

/** Thirty items, of which one experiment answers all, one all but one, and one none. */
export async function leaderboard(page, world) {
  const { base } = world;
  const dataset = `numbers ${Date.now()}`;
  await post(base, "/v1/lab/datasets", { name: dataset });
  const put = Array.from({ length: 30 }, (_, at) => ({ external_id: String(at), input: `Which number is ${at}?`, expected: String(at), tags: [at % 2 === 0 ? "even" : "odd"] }));
  await post(base, `/v1/lab/datasets/${encodeURIComponent(dataset)}/items`, { put });
  const answers = (right) => put.map((item, at) => (right(at) ? item.expected : "none"));
  const expected = put.map((item) => item.expected);
  const never = await experiment(base, dataset, "never right", answers(() => false), false, expected);
  const nearly = await experiment(base, dataset, "nearly always right", answers((at) => at !== 7), false, expected);
  const always = await experiment(base, dataset, "always right", answers(() => true), false, expected);

  await page.goto(`${base}/lab/leaderboard`);
  const table = page.getByRole("group", { name: "Places by metric" });
  await table.getByText("always right").first().waitFor();
  await settled(page);
  const rows = await table.locator("tbody tr").evaluateAll((all) => all.map((row) => [row.querySelector("th button").textContent, row.querySelector(".chip").textContent]));
  assert.deepEqual(rows.map(([name]) => name).sort(), ["always right", "nearly always right", "never right"]);
  assert.deepEqual(rows.map(([, place]) => place), ["place #1–2", "place #1–2", "place #3"], "what the intervals leave open is a range");
  assert.match(await table.locator("tbody tr").first().innerText(), /\[\d\.\d+, \d\.\d+\] n 30/);
  assert.deepEqual((await violations(page)).map((each) => `${each.id} ${each.nodes[0]}`), []);

  await table.getByRole("button", { name: "nearly always right" }).click();
  const findings = page.locator("section[aria-label='Findings in nearly always right']");
  await findings.getByText("the hardest item is 7").waitFor();
  await findings.getByRole("link", { name: "the item", exact: true }).click();
  await page.waitForSelector("details.moved[open]");
  await page.waitForSelector("text=held against what is expected");
  await settled(page);
  assert.match(await page.locator("details.moved[open] summary").innerText(), /Which number is 7\?/, "what failed stands first, and open");
  await counted(page.locator("details.moved"), 30);
  assert.deepEqual((await violations(page)).map((each) => `${each.id} ${each.nodes[0]}`), []);

  await page.goto(`${base}/lab/leaderboard`);
  await page.getByRole("checkbox", { name: /^never right/ }).uncheck();
  await page.waitForFunction(() => document.querySelectorAll(".board tbody tr").length === 2);
  assert.match(page.url(), /experiments=/);
  await together(page, base, { never, nearly, always });
}

/** Chosen in the list, page by page; then one table of what each has and whether it is better, and the same by tag. */
async function together(page, base, { never, nearly, always }) {
  await page.goto(`${base}/lab/experiments`);
  const list = page.getByRole("group", { name: "All experiments" });
  const choose = async (name) => list.getByRole("checkbox", { name: `Compare ${name} with others`, exact: true }).check();
  await choose("always right");
  await choose("nearly always right");
  await page.goto(`${page.url()}&after=${nearly}`);
  await page.getByRole("link", { name: "Newest" }).waitFor();
  await list.getByRole("link", { name: "never right", exact: true }).waitFor();
  await counted(list.getByRole("link", { name: "always right", exact: true }), 0, "only what is older than the one of the address");
  await choose("never right");
  await page.locator("main").focus();
  await page.keyboard.press("j");
  await page.waitForFunction(() => document.activeElement?.closest("tr") === document.querySelector("[data-walk] tbody tr"));
  await page.getByRole("link", { name: "Compare 3 together" }).click();
  const table = page.getByRole("group", { name: "Estimates and verdicts" });
  await table.getByText("worse").waitFor();
  await settled(page);
  const rows = await table.locator("tbody tr").allInnerTexts();
  assert.match(rows[0], /^always right\s+baseline[\s\S]*1\.00 \[0\.\d+, 1\.00\] n 30/);
  assert.match(rows[1], /^nearly always right[\s\S]*no difference shown/);
  assert.match(rows[2], /^never right[\s\S]*−100 \[[\s\S]*worse/);
  await page.getByRole("combobox", { name: "Parted by" }).selectOption("tag");
  const parts = page.getByRole("group", { name: "Differences by part" });
  await counted(parts.locator("tbody tr"), 4);
  assert.match(page.url(), /slice=tag/);
  assert.deepEqual((await violations(page)).map((each) => `${each.id} ${each.nodes[0]}`), []);
  await page.getByRole("combobox", { name: "Baseline" }).selectOption(nearly);
  await table.getByText("nearly always right").first().waitFor();
  await counted(table.locator("tbody tr"), 3);

  await page.goto(`${base}/lab/compare#new=${never}&baseline=${always}`);
  await page.getByRole("combobox", { name: "Parted by" }).selectOption("tag");
  await counted(parts.locator("tbody tr"), 2);
  assert.match(await parts.locator("tbody tr").first().innerText(), /^tag even\s+15[\s\S]*worse/);
  await page.goto(`${base}/lab/experiments#experiment=${nearly}&slice=tag`);
  const metrics = page.getByRole("group", { name: "Metrics by part" });
  await counted(metrics.locator("tbody tr"), 2);
  assert.match(await metrics.innerText(), /tag odd\s+15[\s\S]*0\.93 \[/);
  assert.equal(await page.getByRole("combobox", { name: "Parted by" }).inputValue(), "tag");
  await settled(page);
  assert.deepEqual((await violations(page)).map((each) => `${each.id} ${each.nodes[0]}`), []);
}

/** Labels: what was expected against what was answered; and what the answers of two experiments took. */
export async function labels(page, world) {
  const { base } = world;
  const dataset = `labels ${Date.now()}`;
  await post(base, "/v1/lab/datasets", { name: dataset });
  const put = Array.from({ length: 12 }, (_, at) => ({ external_id: String(at), input: `Mail ${at}`, expected: at < 8 ? "spam" : "ham" }));
  await post(base, `/v1/lab/datasets/${encodeURIComponent(dataset)}/items`, { put });
  const made = async (name, baseline, output, slower) => {
    const { experiment_id: id } = await post(base, "/v1/lab/experiments", { name, dataset, target: { kind: "existing" }, evaluators: ["classification"], repetitions: 1, baseline });
    const todo = await (await fetch(`${base}/v1/lab/experiments/${id}/todo`)).json();
    const answer = ({ item_id, repetition, attempt, external_id: at }) => ({ item_id, repetition, attempt, output: output(Number(at)), duration_ms: 100 + Number(at) + slower, input_tokens: 50, output_tokens: 5 + slower / 10 });
    await post(base, `/v1/lab/experiments/${id}/runs`, todo.map(answer));
    return id;
  };
  const first = await made("by hand", true, (at) => (at < 8 ? "spam" : "ham"), 0);
  const second = await made("by model", false, (at) => (at < 6 ? "Spam." : at < 8 ? "ham" : at === 8 ? "spam" : "ham"), 50);

  await page.goto(`${base}/lab/leaderboard#experiments=${first},${second}&one=${second}`);
  const matrix = page.getByRole("group", { name: "Confusion matrix" });
  await matrix.waitFor();
  const cells = (await matrix.locator("tbody tr").allInnerTexts()).map((line) => line.split("\t").map((cell) => cell.trim()));
  assert.deepEqual(cells, [["spam", "✓ 6", "2", "8", "0.86", "0.75", "0.80"], ["ham", "1", "✓ 3", "4", "0.60", "0.75", "0.67"]]);
  assert.deepEqual((await violations(page)).map((each) => `${each.id} ${each.nodes[0]}`), []);

  await page.goto(`${base}/lab/compare#new=${second}&baseline=${first}`);
  const costs = page.getByRole("group", { name: "Time, tokens and cost" });
  await costs.waitFor();
  const rows = await costs.locator("tbody tr").allInnerTexts();
  assert.match(rows[0], /^duration\s+106 ms\s+156 ms\s+\+50 ms \[\+50 ms, \+50 ms\] n 12$/);
  assert.match(rows[1], /^input tokens\s+50\s+50\s+0 \[0, 0\] n 12; no difference shown$/);
  assert.match(rows[2], /^output tokens\s+5\s+10\s+\+5 /);
  assert.equal(rows.length, 3, "nothing is said of a cost that nobody told");
}

/** A file with a fault: it is looked at first, every fault by its line, and the good items are taken. */
export async function importing(page, world) {
  const { base } = world;
  const dataset = `imported ${Date.now()}`;
  await page.goto(`${base}/lab/datasets`);
  await page.getByText("Import a file").click();
  const file = { name: `${dataset}.csv`, mimeType: "text/csv", buffer: Buffer.from("input,expected\nWhat is one?,1\ntoo short\nWhat is two?,<b>2</b>\n") };
  await page.getByLabel("File", { exact: true }).setInputFiles(file);
  assert.equal(await page.getByRole("textbox", { name: "Dataset" }).inputValue(), dataset);
  await page.getByRole("button", { name: "Look at it" }).click();
  await page.waitForSelector("text=2 to be put");
  assert.match(await page.getByRole("group", { name: "Faults of the file" }).locator("tbody").innerText(), /line 3/);
  const there = await (await fetch(`${base}/v1/lab/datasets?limit=1000`)).json();
  assert.ok(!there.datasets.some((each) => each.name === dataset), "looking makes nothing");
  assert.deepEqual((await violations(page)).map((each) => `${each.id} ${each.nodes[0]}`), []);
  await page.getByRole("button", { name: "Import the others" }).click();
  const items = page.getByRole("group", { name: "Items", exact: true });
  await items.getByText("What is two?").waitFor();
  await counted(items.locator("tbody tr"), 2);
  await items.getByText("<b>2</b>").waitFor();
}
