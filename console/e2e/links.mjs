// Numbers lead to what they count, charts say what alerts want, and what failed is marked where the server says.
import assert from "node:assert/strict";
import { counted, sqlOf, until } from "./demo.mjs";
import { RECENT } from "./pages.mjs";
import { settled } from "./shots.mjs";

const place = (page) => decodeURIComponent(page.url());

export async function numbersLead(page, world) {
  await page.goto(`${world.base}/#${RECENT}`);
  await settled(page);
  const effective = page.locator("table.quality tbody tr").first().locator("td:nth-child(5) a");
  assert.match(await effective.getAttribute("href"), /^\/scores\/[^#]+#.*where=service_name/, "n eff. is of the same items");
  await page.getByRole("checkbox", { name: /without a verdict/ }).check();
  const skipped = page.locator("table.quality tbody tr td:last-child a").first();
  const n = Number((await skipped.innerText()).replace(",", ""));
  await skipped.click();
  await settled(page);
  assert.match(place(page), /\/scores\/[^#]+#.*show=skipped/);
  const cards = page.locator(".item-card");
  await counted(cards, Math.min(n, 100), "as many as were counted");
  await cards.first().getByText("lacks").waitFor();
  assert.equal(await page.getByRole("button", { name: "✓ right" }).count(), 0, "nothing was judged that could be right");
  await page.goto(`${world.base}/sampling#${RECENT}`);
  await settled(page);
  await page.locator(".flow summary").first().click();
  const reason = page.locator(".flow table a").first();
  const traces = Number((await reason.innerText()).replace(",", ""));
  await reason.click();
  await settled(page);
  const where = /where=([^&]*)/.exec(place(page))[1];
  const [{ n: found }] = await sqlOf(world.base, `SELECT count(DISTINCT trace_id) AS n FROM spans WHERE ${where}`);
  assert.equal(Number(found), traces, where);
}

/** Times of evaluators lead to the scores that took longer; the query runs, and has as many as a percentile leaves. */
export async function timesOfEvaluators(page, world) {
  await page.goto(`${world.base}/system#${RECENT}`);
  await settled(page);
  const row = page.locator("section[aria-label='Evaluators in this time range'] tbody tr").filter({ hasText: "hallucination" }).first();
  await row.locator("td:nth-child(4) a").click();
  await page.waitForFunction(() => location.pathname === "/sql");
  const query = /q=([^&]*)/.exec(place(page))[1];
  const least = Number(/latency_ms >= ([\d.e-]+) AND/.exec(query)[1]);
  const rows = await sqlOf(world.base, query);
  assert.ok(rows.length > 0 && rows.every((row) => row.latency_ms >= least), query);
  await page.click("[data-run]");
  await page.locator("table[aria-label=Result] tbody a").first().waitFor();
}

/** A point of a curve, by keyboard: its bucket becomes the range. */
export async function pointsLead(page, world) {
  await page.goto(`${world.base}/#${RECENT}`);
  await settled(page);
  const chart = page.locator(".multiples .canvas").first();
  await chart.focus();
  await page.keyboard.press("End");
  await page.locator(".multiples .readout a").first().waitFor();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.pathname.startsWith("/scores/"));
  assert.match(place(page), /from=.*to=/);
  assert.doesNotMatch(place(page), /range=/);
  // The bucket has items.
  await page.locator(".item-card").first().waitFor();
}

/** The objective of the demo's alert stands on the curves of its metric; the threshold of an item on its mean value. */
export async function linesOnCurves(page, world) {
  const status = await (await fetch(`${world.base}/v1/status`)).json();
  const alert = status.configuration.alerts.find((each) => each.metric === "hallucination");
  const told = `${alert.name} wants ${alert.objective.toFixed(2)}`;
  await page.goto(`${world.base}/#${RECENT}`);
  await page.locator("section[aria-label=hallucination] figcaption").getByText(told).waitFor();
  await page.goto(`${world.base}/scores/hallucination#evaluator=hallucination&${RECENT}`);
  const trend = page.locator("section[aria-label='Over time']");
  await trend.locator("figcaption").getByText(told).waitFor();
  assert.match(await trend.getByRole("slider").getAttribute("aria-label"), new RegExp(`Line: ${told}`));
  await trend.getByRole("button", { name: "Mean value" }).click();
  await trend.locator("figcaption").getByText(/an item passes at ≥ 0\./).waitFor();
  await page.waitForFunction(() => location.hash.includes("trend=mean"));
}

/** The marks of an answer are the bytes that the server names. */
export async function evidenceByPlace(page, world) {
  const rows = await sqlOf(world.base, `SELECT s.trace_id, s.span_id, s.evidence, p.answer FROM scores_latest s JOIN spans p ON s.trace_id = p.trace_id AND s.span_id = p.span_id
    WHERE s.metric = 'hallucination' AND s.passed = false AND s.evidence IS NOT NULL AND p.answer IS NOT NULL AND p.operation <> 'other' ORDER BY length(s.evidence) DESC, s.trace_id LIMIT 1`);
  assert.equal(rows.length, 1, "the demo has an answer that failed");
  const [{ trace_id: id, span_id: span, evidence, answer }] = rows;
  const wanted = JSON.parse(evidence).map(({ answer: [from, to] }) => Buffer.from(answer).subarray(from, to).toString());
  await page.goto(`${world.base}/trace/${id}#span=${span}`);
  await settled(page);
  const box = page.locator("section[aria-label='What it brought'] mark.claim");
  await until("the sentences are marked", async () => (await box.count()) >= wanted.length);
  assert.deepEqual([...new Set(await box.allInnerTexts())].sort(), [...new Set(wanted)].sort());
}

/** From a score on a trace to the queue that people label from. */
export async function sentToReview(page, world) {
  const [{ trace_id: id, span_id: span }] = await sqlOf(world.base, "SELECT trace_id, span_id FROM scores_latest WHERE metric = 'hallucination' AND status = 'ok' AND passed IS NOT NULL ORDER BY value, trace_id LIMIT 1");
  await page.goto(`${world.base}/trace/${id}#span=${span}`);
  await settled(page);
  await page.getByRole("button", { name: "Send to review" }).click();
  const dialog = page.getByRole("dialog", { name: "Send to review" });
  await dialog.getByRole("combobox", { name: "Metric" }).selectOption("hallucination");
  await dialog.getByRole("button", { name: "Send", exact: true }).click();
  await dialog.getByRole("status").getByRole("link", { name: "hallucination" }).waitFor();
  await until("it is in the queue", async () => (await sqlOf(world.base, `SELECT item FROM review_items WHERE metric = 'hallucination' AND trace_id = '${id}' AND span_id = '${span}'`)).length > 0);
  await dialog.getByRole("link", { name: "hallucination" }).click();
  await page.waitForFunction(() => location.pathname === "/review/hallucination");
}

/** Keys of attributes and values of columns are offered where their quotes are open. */
export async function completes(page, world) {
  await page.goto(`${world.base}/explore#${RECENT}`);
  await settled(page);
  await page.locator("[data-filter]").first().click();
  await page.locator(".cm-content").waitFor();
  await page.keyboard.type("attr(attributes, 'gen_ai.operation");
  // By mouse: for a moment after it opened the list takes no key, so that nobody chooses what was not seen.
  await page.getByRole("option", { name: /gen_ai\.operation\.name/ }).click();
  await page.keyboard.type(") = 'chat' AND operation = 'l");
  await page.getByRole("option", { name: /^llm/ }).click();
  await page.keyboard.press("Enter");
  await until("the filter is in the address", async () => place(page).includes("where=attr(attributes, 'gen_ai.operation.name') = 'chat' AND operation = 'llm'"));
  await settled(page);
  await page.locator("main tbody tr").first().waitFor();
}

/** The head of the page System says what ends when. */
export async function lasts(page, world) {
  const soon = (days) => new Date(Date.now() + days * 86_400_000 + 60_000).toISOString();
  await page.route("**/v1/status", async (route) => {
    const status = await (await route.fetch()).json();
    status.disk = { ...status.disk, observed_seconds: 21_600, growth_per_day_bytes: 2 ** 31, full_at: soon(2) };
    status.tls = { certificate_ends: soon(40) };
    await route.fulfill({ json: status });
  });
  await page.goto(`${world.base}/system`);
  await settled(page);
  await page.getByText("! full in 2 d 0 h at 2.0 GiB a day").waitFor();
  await page.getByText("ends in 40 d 0 h").waitFor();
}
