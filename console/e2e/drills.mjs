// Looking closer: a trace and what its numbers count, a threshold that is tried, the statement behind a panel, and the way
// from an alert to the sentence by keys alone.
import assert from "node:assert/strict";
import { violations } from "./axe.mjs";
import { DEMO, counted, sqlOf, until } from "./demo.mjs";
import { settled } from "./shots.mjs";

const place = (page) => decodeURIComponent(page.url());
const tile = (page, name) => page.locator(".tiles > div").filter({ has: page.locator("dt", { hasText: name }) }).locator("dd");
const brought = (page) => page.locator("section[aria-label='What it brought']");

async function open(page, world, path) {
  await page.goto("about:blank");
  await page.goto(world.base + path);
  await settled(page);
}

/** Scores on the span that they judge, documents, tools, tokens and cost; tiles lead to the spans that they add up. */
export async function traceTells(page, world) {
  const [{ trace_id: id, span_id: span, metric, value }] = await sqlOf(world.base, `SELECT trace_id, span_id, metric, value FROM scores_latest s
    WHERE metric = 'hallucination' AND passed = false AND EXISTS (SELECT 1 FROM scores_latest o WHERE o.trace_id = s.trace_id AND o.span_id = s.span_id AND o.status = 'skipped')
      AND EXISTS (SELECT 1 FROM spans d WHERE d.trace_id = s.trace_id AND cardinality(d.documents) > 1) ORDER BY value, trace_id LIMIT 1`);
  await open(page, world, `/trace/${id}#span=${span}`);
  const chips = page.locator("tr[aria-selected=true] .chips");
  await chips.locator(".chip.bad").first().getByText(`${metric} ${value.toFixed(2)}`).waitFor();
  assert.match(await chips.locator(".chip[title*=lacks]").getAttribute("title"), /: lacks \w+/, "a skipped one says which input it lacked");
  const spans = await sqlOf(world.base, `SELECT span_id, parent_span_id, operation, input_tokens, output_tokens, duration_ns FROM spans WHERE trace_id = '${id}'`);
  const calls = spans.filter(({ operation }) => operation === "llm" || operation === "embedding");
  const sum = (column) => calls.reduce((all, each) => all + Number(each[column] ?? 0), 0);
  assert.equal(await tile(page, "Tokens").innerText(), `${sum("input_tokens")} / ${sum("output_tokens")}`);
  await tile(page, "Duration").getByRole("link").click();
  const leaves = spans.filter((each) => spans.every((other) => other.parent_span_id !== each.span_id));
  const longest = leaves.reduce((best, each) => (Number(each.duration_ns) > Number(best.duration_ns) ? each : best));
  await page.waitForFunction((wanted) => location.hash.includes(`span=${wanted}`), longest.span_id);
  await tile(page, "Tokens").getByRole("link").click();
  await page.waitForFunction(() => location.pathname === "/explore");
  await settled(page);
  assert.equal(await page.locator("table[aria-label=Spans]").getAttribute("aria-rowcount"), String(calls.length + 1), "the spans that were added up");
  await documents(page, world, id);
  await toolsAndCost(page, world);
}

async function documents(page, world, id) {
  const [row] = await sqlOf(world.base, `SELECT span_id, cardinality(documents) AS n, documents[1]['id'] AS first, documents[1]['content'] AS content FROM spans WHERE trace_id = '${id}' AND cardinality(documents) > 1 LIMIT 1`);
  await open(page, world, `/trace/${id}#span=${row.span_id}`);
  await counted(brought(page).locator(".document"), Number(row.n));
  const text = await brought(page).locator(".document").first().innerText();
  assert.ok(text.includes(row.first) && text.includes(row.content.slice(0, 40)), text);
  await counted(brought(page).locator(".document.hit mark.support"), 1, "the best evidence is marked in its document");
}

async function toolsAndCost(page, world) {
  const [{ trace_id: id, span_id: span }] = await sqlOf(world.base, "SELECT trace_id, span_id FROM spans WHERE operation = 'llm' AND tool_calls LIKE '%get_weather%Paris%' ORDER BY trace_id LIMIT 1");
  await open(page, world, `/trace/${id}#span=${span}`);
  await brought(page).getByText("get_weather").first().waitFor();
  await brought(page).getByText("Paris").first().waitFor();
  const [paid] = await sqlOf(world.base, "SELECT trace_id, sum(cost_usd) AS usd, count(*) AS n FROM spans WHERE operation IN ('llm', 'embedding') GROUP BY 1 HAVING sum(cost_usd) > 0 ORDER BY 2 DESC, 1 LIMIT 1");
  await open(page, world, `/trace/${paid.trace_id}`);
  await page.getByRole("columnheader", { name: "Cost" }).waitFor();
  const shown = Number((await tile(page, "Cost").innerText()).replace("$", ""));
  assert.ok(Math.abs(shown - paid.usd) <= paid.usd * 0.06 + 0.000001, `${shown} for ${paid.usd}`);
  await tile(page, "Cost").getByRole("link").click();
  await page.waitForFunction(() => location.pathname === "/explore");
  await page.getByRole("columnheader", { name: "Cost" }).waitFor();
}

/** Another threshold is tried, by keys: the server says what it would pass. A bar of the distribution narrows the page to its items. */
export async function triedThreshold(page, world) {
  await open(page, world, `/scores/hallucination#evaluator=hallucination&${DEMO}`);
  const panel = page.locator("section[aria-label=Distribution]");
  const [from, to] = DEMO.split("&").map((part) => part.split("=")[1]);
  const items = `FROM scores_latest WHERE metric = 'hallucination' AND status = 'ok' AND source = 'rule' AND span_time >= '${from}' AND span_time < '${to}'`;
  const [{ n, share }] = await sqlOf(world.base, `SELECT count(*) AS n, avg(CASE WHEN value >= 0.6 THEN 1.0 ELSE 0.0 END) AS share ${items}`);
  await panel.getByRole("img", { name: `Distribution of ${n} values between 0 and 1` }).waitFor();
  const slider = panel.getByRole("slider", { name: "Threshold under trial" });
  await slider.focus();
  await page.keyboard.press("Home");
  await panel.getByText(`1.00 [`).waitFor();
  await page.waitForFunction(() => location.hash.includes("trial=0"));
  await slider.fill("0.6");
  await panel.getByText(`${share.toFixed(2)} [`).waitFor();
  await page.waitForFunction(() => location.hash.includes("trial=0.6"));
  await page.reload();
  await panel.getByText(`${share.toFixed(2)} [`).waitFor();
  assert.equal(await slider.inputValue(), "0.6", "the address keeps it");
  await panel.getByRole("button", { name: /^Back to 0\./ }).click();
  await page.waitForFunction(() => !location.hash.includes("trial="));
  const bars = panel.locator(".dist > div:has(b)");
  const many = Number(/: ([\d,]+) items/.exec(await bars.last().getAttribute("title"))[1]);
  await bars.last().click();
  await page.waitForFunction(() => location.hash.includes("where=value"));
  await settled(page);
  await counted(page.locator(".item-card"), many, "the items of the bar");
}

/** The statement of a panel: without a violation, it runs as it is copied, and waits on the SQL page. */
export async function sqlOfAPanel(page, world) {
  await open(page, world, `/explore#${DEMO}&where=operation%20=%20'tool'%20AND%20name%20%3C%3E%20'it''s'`);
  const rows = Number(await page.locator("table[aria-label=Spans]").getAttribute("aria-rowcount")) - 1;
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.locator("section[aria-label=Spans]").getByRole("button", { name: "SQL", exact: true }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "The SQL of this view" });
  await dialog.waitFor();
  assert.deepEqual((await violations(page)).map((each) => `${each.id} ${each.nodes[0]}`), []);
  await dialog.getByRole("button", { name: "Copy SQL" }).click();
  await page.getByText("SQL copied").waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(await dialog.locator("pre").innerText(), copied);
  assert.equal((await sqlOf(world.base, copied)).length, rows, "the same rows");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.locator("section[aria-label=Spans]").getByRole("button", { name: "SQL", exact: true }).press("Enter");
  await dialog.getByRole("button", { name: "Close", exact: true }).press("Enter");
  await dialog.waitFor({ state: "detached" });
  await page.waitForFunction(() => document.activeElement?.textContent === "SQL" && document.activeElement.closest("section")?.getAttribute("aria-label") === "Spans");
  await page.locator("section[aria-label=Spans]").getByRole("button", { name: "SQL", exact: true }).press("Enter");
  await dialog.getByRole("link", { name: "Open on the SQL page" }).click();
  await page.waitForFunction(() => location.pathname === "/sql");
  await page.getByText("Nothing has run yet").waitFor();
  await page.click("[data-run]");
  await page.getByText(new RegExp(`^${rows} rows? in`)).waitFor();
}

/** From the first page to the sentence that nothing supports, without a mouse. */
export async function alertToSentenceByKeys(page, world) {
  await open(page, world, "/");
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await page.locator(".alert-card").first().waitFor();
  await settled(page);
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");
  await until("Tab comes to the worst traces", async () => {
    await page.keyboard.press("Tab");
    return (await focused()) === "Worst traces";
  });
  await page.keyboard.press("Enter");
  await page.locator(".item-card").first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.pathname.startsWith("/trace/"));
  await page.locator("mark.support").first().waitFor();
  const seen = await page.locator("mark.claim").first().evaluate((mark) => {
    const { top, bottom } = mark.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
  assert.ok(seen, "the sentence is in view");
}

/** Who was told of an alert, and who was not; its numbers lead to the items that it watches. */
export async function toldOnAlerts(page, world) {
  const at = new Date().toISOString();
  const told = (receiver, outcome, more = {}) => ({ alert: "hallucination-drift", slice: "request_model=model-b", receiver, status: "firing", outcome, changed_at: at, attempted_at: at, failed: 0, next_attempt_at: null, error: null, ...more });
  await page.route("**/v1/alerts", async (route) => {
    const answer = await (await route.fetch()).json();
    answer.deliveries = [
      told("chat", "delivered"), told("pager", "waiting", { failed: 3, next_attempt_at: at, error: "503 \u001b[31m<img src=x onerror=window.hit=1>" }),
      told("<script>window.hit=1</script>", "refused", { error: "\u202eno" }), told("nobody's", "silenced"), told("other", "delivered", { slice: "request_model=model-a" }),
    ];
    await route.fulfill({ json: answer });
  });
  await open(page, world, `/alerts#${DEMO}`);
  const card = page.locator(".alert-card").filter({ has: page.locator(".chip.bad", { hasText: "firing" }) }).first();
  const lines = card.getByRole("region", { name: "Who was told" }).locator("li");
  await counted(lines, 4, "those of this slice");
  const texts = await lines.allInnerTexts();
  assert.match(texts[0], /refused[\s\S]*<script>window\.hit=1<\/script>[\s\S]*⟨U\+202E⟩no/, "what nobody took stands first");
  assert.match(texts[1], /waiting[\s\S]*pager[\s\S]*3 attempts failed[\s\S]*next try at[\s\S]*<img src=x/);
  assert.match(texts[2] + texts[3], /told[\s\S]*chat[\s\S]*kept back by a silence[\s\S]*nobody's/);
  assert.deepEqual((await violations(page)).map((each) => `${each.id} ${each.nodes[0]}`), []);
  assert.equal(await page.evaluate(() => window.hit), undefined);
  await card.getByRole("link", { name: /from n \d+/ }).click();
  await page.waitForFunction(() => location.pathname === "/scores/hallucination");
  assert.match(place(page), /where=.*request_model = 'model-b'/);
  await page.locator(".item-card").first().waitFor();
}
