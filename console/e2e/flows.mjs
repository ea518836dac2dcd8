// What people do, from the address to the answer.
import assert from "node:assert/strict";
import { DEMO, counted, sqlOf, until } from "./demo.mjs";
import { settled } from "./shots.mjs";

export { DEMO };

async function open(page, world, path) {
  await page.goto("about:blank");
  await page.goto(world.base + path);
  await settled(page);
}

const title = (page) => page.locator("h1").innerText();

async function worstTrace(world) {
  const rows = await sqlOf(world.base, "SELECT trace_id, span_id FROM scores_latest WHERE metric = 'hallucination' AND status = 'ok' AND rationale NOT LIKE '%(prompt)%' ORDER BY value, trace_id LIMIT 1");
  return rows[0];
}

export async function shell(page, world) {
  await open(page, world, `/#${DEMO}`);
  assert.equal(await title(page), "Quality");
  for (const [keys, name] of [["ge", "Explorer"], ["gs", "Scores"], ["ga", "Alerts"], ["gr", "Review"], ["gl", "Lab"], ["gp", "Sampling and coverage"], ["gy", "System"], ["gd", "SQL"]]) {
    for (const key of keys) await page.keyboard.press(key);
    await page.waitForFunction((wanted) => document.querySelector("h1")?.textContent === wanted, name);
    assert.ok(page.url().includes(DEMO.slice(0, "from=2026-01-01".length)), "the time range comes along");
  }
  await page.goBack();
  await page.waitForFunction(() => document.querySelector("h1")?.textContent === "System");
  await page.keyboard.press("?");
  await page.locator("dialog").getByText("Ask again").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "hidden" });
  await page.keyboard.press("d");
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
}

/** Whoever opens the console sees what just came, whatever the day is. */
export async function opened(page, world) {
  await open(page, world, "/");
  await page.locator(".multiples canvas").first().waitFor();
  await page.locator("table.quality tbody tr").first().waitFor();
}

/** The address that the demo prints leads to its worst answer, the false sentence and the evidence marked. */
export async function printed(page, world) {
  if (world.worst === undefined) return console.log("     no demo of our own");
  await open(page, world, world.worst.slice(new URL(world.worst).origin.length));
  await page.locator("mark.claim").first().waitFor();
  await page.locator("mark.support").first().waitFor();
}

export async function sqlRun(page, world) {
  await open(page, world, "/sql#q=SELECT%201%20AS%20one");
  await page.getByText("Nothing has run yet").waitFor();
  await page.waitForSelector(".cm-content");
  await page.click("[data-run]");
  await page.waitForSelector("text=1 row in");
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+A");
  await page.keyboard.type("SELECT nope FROM spans");
  await page.keyboard.press("Control+Enter");
  await page.waitForSelector("text=No field named nope");
  assert.equal(await page.locator("pre mark.claim").innerText(), "nope", "the place is underlined");
  await page.getByRole("button", { name: "A mean over time" }).click();
  await page.click("[data-run]");
  await page.getByRole("button", { name: "Plot" }).click();
  const chart = page.getByRole("slider");
  await chart.focus();
  await page.keyboard.press("ArrowLeft");
  assert.match((await chart.getAttribute("aria-valuetext")) ?? "", /\[0\.\d\d, .*\] n \d+/);
  await page.getByRole("button", { name: "History" }).click();
  await counted(page.locator(".sql-side .item"), 2, "only what ran without a fault is kept");
  await page.getByRole("button", { name: "Saved", exact: true }).click();
  await page.getByRole("textbox", { name: "Name of the query" }).fill("my <b>mean</b>");
  await page.keyboard.press("Enter");
  await page.reload();
  await page.getByRole("button", { name: "Saved", exact: true }).click();
  await page.getByRole("button", { name: "my <b>mean</b>", exact: true }).waitFor();
}

// Chromium itself writes a style where one types over coloured text; the policy refuses it and the editor draws the line anew.
sqlRun.typed = true;

export async function sqlCancel(page, world) {
  await open(page, world, "/sql#q=SELECT%20count(*)%20FROM%20generate_series(1,%209000000)%20a,%20generate_series(1,%209000000)%20b%20WHERE%20a.value%20%2B%20b.value%20%3D%207");
  await page.click("[data-run]");
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.waitForSelector("text=Cancelled");
}

export async function filter(page, world) {
  await open(page, world, `/explore#${DEMO}`);
  const rows = () => page.locator("table[aria-label=Spans]").getAttribute("aria-rowcount");
  await page.keyboard.press("/");
  await page.waitForSelector(".filterbar .cm-content");
  await page.keyboard.type("operation = 'tool'");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.waitForFunction(() => document.querySelector("table[aria-label=Spans]")?.getAttribute("aria-rowcount") === "22");
  await page.getByRole("button", { name: "mlflow", exact: true }).click();
  assert.match(decodeURIComponent(page.url()), /where=operation = 'tool' AND dialect = 'mlflow'/);
  await settled(page);
  const before = await rows();
  await page.locator("tbody button.cell").first().click();
  await page.waitForSelector("aside[aria-label=Span]");
  await page.locator("main").focus();
  await page.keyboard.press("Escape");
  await page.waitForSelector("aside[aria-label=Span]", { state: "detached" });
  await page.evaluate(() => (location.hash = location.hash.replace(/where=[^&]*/, "where=nope%20=%201")));
  await page.waitForSelector("text=No field named nope");
  assert.equal(await page.locator("pre mark.claim").innerText(), "nope", "the place is underlined");
  assert.equal(await rows(), before, "a wrong filter keeps the last rows");
  await page.evaluate(() => (location.hash = location.hash.replace(/where=[^&]*/, "where=operation%20=%20'tool'%20AND%20name%20=%20'nobody'")));
  await page.locator(".empty p").getByText("there are 21").waitFor();
}

filter.typed = true;

export async function views(page, world) {
  await open(page, world, `/explore#${DEMO}&where=operation%20=%20'tool'`);
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("textbox", { name: "Save this as" }).fill("tools");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("button", { name: "tools", exact: true }).click();
  await page.waitForFunction(() => decodeURIComponent(location.hash).includes("where=operation = 'tool'"));
}

export async function trace(page, world) {
  const { trace_id: id, span_id: span } = await worstTrace(world);
  await open(page, world, `/trace/${id}`);
  await counted(page.locator("tr[aria-selected=true]"), 1);
  await page.getByRole("treegrid").focus();
  await page.keyboard.press("End");
  await page.waitForFunction(() => document.querySelector("tbody tr:last-child")?.getAttribute("aria-selected") === "true");
  assert.match(page.url(), /span=/);
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowLeft");
  await counted(page.locator("tbody tr[role=row]"), 1, "the root is folded");
  await page.goto("about:blank");
  await open(page, world, `/trace/${id}#span=${span}&view=conversation`);
  await page.locator("mark.claim").first().waitFor();
  await page.locator("mark.support").first().waitFor();
  await open(page, world, "/trace/00000000000000000000000000000001");
  await page.getByText("This trace is not here").waitFor();
}

export async function alertToSentence(page, world) {
  await open(page, world, "/alerts");
  await page.getByRole("link", { name: "Worst traces" }).first().click();
  await settled(page);
  assert.match(decodeURIComponent(page.url()), /\/scores\/hallucination#.*request_model = 'model-b'/);
  await page.waitForSelector(".item-card");
  await page.keyboard.press("Enter");
  await page.waitForSelector("mark.claim");
  await page.waitForSelector("mark.support");
}

/** From the first page to an item and back through the lists, by keys alone; rows have curves that say what they show. */
export async function walked(page, world) {
  const focused = (wanted) => page.waitForFunction((row) => document.activeElement?.closest("tr") === document.querySelectorAll("[data-walk] tbody tr")[row], wanted);
  await open(page, world, `/#${DEMO}`);
  const curve = page.locator("table.quality svg.spark").first();
  await curve.waitFor();
  assert.match(await curve.getAttribute("aria-label"), /over time: lowest 0?\S+ \[.*\] n \d+, highest .*, last .* n \d+/);
  for (const [key, row] of [["j", 0], ["j", 1], ["k", 0], ["k", 0]]) {
    await page.keyboard.press(key);
    await focused(row);
  }
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.pathname.startsWith("/scores/"));
  await page.locator(".item-card").first().waitFor();
  await open(page, world, `/scores#${DEMO}`);
  await page.locator("table.quality svg.spark").first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("hallucination");
  await counted(page.locator("[data-walk] tbody tr"), 1);
  await page.keyboard.press("Tab");
  await page.waitForFunction(() => location.hash.includes("find=hallucination"));
  await page.locator("main").focus();
  await page.keyboard.press("j");
  await focused(0);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.pathname === "/scores/hallucination");
  await open(page, world, `/alerts#${DEMO}`);
  await page.locator("[data-walk] tbody a").first().waitFor();
  await page.keyboard.press("j");
  await focused(0);
}

/** Charts of chosen metrics; a name that nothing has is told, with one that may be meant. */
export async function chosen(page, world) {
  await open(page, world, `/#metrics=halucination&${DEMO}`);
  await page.getByRole("link", { name: "hallucination", exact: true }).first().click();
  await page.locator(".multiples section[aria-label=hallucination] canvas").waitFor();
  assert.match(page.url(), /metrics=hallucination/);
  await page.getByRole("button", { name: "1 chosen" }).click();
  await page.getByRole("checkbox", { name: "insult" }).check();
  await page.locator(".multiples section[aria-label=insult] canvas").waitFor();
  await counted(page.locator(".multiples > section"), 2);
  await page.getByRole("button", { name: "The worst six" }).click();
  await counted(page.locator(".multiples > section"), 6);
}

/** The filter of a metric, and its slices, which write into it. */
export async function slices(page, world) {
  await open(page, world, `/scores/hallucination#evaluator=hallucination&${DEMO}`);
  const [{ n }] = await sqlOf(world.base, "SELECT count(*) AS n FROM scores_latest WHERE metric = 'hallucination' AND status = 'ok' AND source = 'rule' AND request_model = 'model-b'");
  await page.getByRole("button", { name: "Model", exact: true }).click();
  await page.getByRole("group", { name: "Slices" }).getByRole("link", { name: "model-b", exact: true }).click();
  await settled(page);
  assert.match(decodeURIComponent(page.url()), /where=request_model = 'model-b'/);
  await page.locator(".tiles").getByText(`n ${n}`).first().waitFor();
  await page.keyboard.press("/");
  await page.waitForSelector(".filterbar .cm-content");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("nope = 1");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.waitForSelector("text=No field named nope");
  assert.equal(await page.locator("pre mark.claim").innerText(), "nope", "the place is underlined");
  await page.locator(".item-card").first().waitFor();
  await page.getByRole("button", { name: "Clear" }).click();
  await page.waitForFunction(() => !location.hash.includes("where="));
}

slices.typed = true;

export async function mark(page, world) {
  await open(page, world, `/scores/hallucination#evaluator=hallucination&order=random&${DEMO}`);
  await page.waitForSelector(".item-card");
  await page.keyboard.press("1");
  await page.keyboard.press("j");
  await page.keyboard.press("2");
  await until("two annotations", async () => {
    const rows = await sqlOf(world.base, "SELECT label FROM annotations WHERE name = 'hallucination' ORDER BY label");
    return rows.map((row) => row.label).join() === "right,wrong";
  });
  await page.getByRole("button", { name: "Refresh" }).click();
  await page.waitForSelector("text=evaluator right in 1 of 2 marks");
}

export async function offline(page, world) {
  await open(page, world, `/#${DEMO}`);
  await page.context().setOffline(true);
  await page.getByRole("button", { name: "Refresh" }).click();
  await page.waitForSelector("text=No connection");
  await page.locator(".multiples section").first().waitFor();
  await page.context().setOffline(false);
  await page.getByRole("button", { name: "Try again" }).first().click();
  await page.waitForFunction(() => document.querySelectorAll(".fault").length < 3);
}

export async function login(page, world) {
  let known = false;
  await page.route("**/v1/**", (route) => (known ? route.continue() : route.fulfill({ status: 401, json: { error: "send a token" } })));
  await page.route("**/login", (route) => {
    known = route.request().postDataJSON().token === "right";
    return route.fulfill(known ? { status: 204 } : { status: 401, json: { error: "unknown" } });
  });
  await page.goto(world.base + "/alerts");
  await page.fill("#token", "nope");
  await page.keyboard.press("Enter");
  await page.waitForSelector("text=not known here");
  await page.fill("#token", "right");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".alert-card");
  const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + location.href);
  assert.ok(!kept.includes("right"), "the token is kept nowhere");
}

/** Twenty items by keyboard alone; a lost connection loses no answer. */
export async function review(page, world) {
  await open(page, world, "/review");
  await page.getByRole("link", { name: "unique_sentences" }).click();
  await page.waitForSelector("article[aria-label=Item]");
  assert.equal(await page.getByText(/looping (passes|fails)/).count(), 0, "nothing says what the evaluator thinks");
  const labelled = async () => (await sqlOf(world.base, "SELECT count(*) AS n FROM review_answers WHERE metric = 'unique_sentences' AND kind = 'answer'"))[0].n;
  await page.locator("main").focus();
  for (let n = 0; n < 20; n++) {
    await page.waitForSelector("article[aria-label=Item]");
    if (n === 5) {
      // All that was said is sent, and what is said without a connection is at hand.
      await page.locator(".unsent").waitFor({ state: "detached" });
      await page.getByText("1 of 4 at hand").waitFor();
      await page.context().setOffline(true);
    }
    if (n === 7) {
      await page.getByText("2 answers are not sent yet").waitFor();
      await page.context().setOffline(false);
      await page.getByRole("button", { name: "Send now" }).click();
      await page.locator("main").focus();
    }
    await page.keyboard.press(n % 4 === 0 ? "2" : "1");
    await page.keyboard.press("Enter");
  }
  await until("twenty answers", async () => (await labelled()) === 20);
  await page.waitForSelector("text=/Last item: labelled/");
  await page.keyboard.press("u");
  await page.keyboard.press("c");
  await page.keyboard.type("1 taken back");
  await page.keyboard.press("Escape");
  await page.keyboard.press("1");
  await page.keyboard.press("Enter");
  await until("an undo and another answer", async () => {
    const rows = await sqlOf(world.base, "SELECT kind, comment FROM review_answers WHERE metric = 'unique_sentences' ORDER BY created_at DESC LIMIT 2");
    return rows[0]?.comment === "1 taken back" && rows[1]?.kind === "undo";
  });
}
