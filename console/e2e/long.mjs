// Long texts: a megabyte in a span, a message of five, a picture of four. The first part is shown, the rest on demand.
import assert from "node:assert/strict";
import { send, sqlOf, until } from "./demo.mjs";
import { settled } from "./shots.mjs";
import { inTime, longestStall, noteStalls } from "./times.mjs";

const MB = 1_000_000;
const FIRST = 20_000;

const messages = (...parts) => JSON.stringify([{ role: "assistant", parts }]);

async function sent(world, trace, attributes) {
  await send(world.otlp, "long", [{ trace, id: trace.slice(0, 16), name: "chat", attributes: { "gen_ai.operation.name": "chat", ...attributes } }]);
  await until("the span is there", async () => (await sqlOf(world.base, `SELECT span_id FROM spans WHERE trace_id = '${trace}'`)).length === 1);
}

/** Characters that the page's main part holds as text. */
const held = (page) => page.evaluate(() => document.querySelector("main").textContent.length);

/** ANSI sequences and a megabyte: both are text, and what a terminal would obey is a mark. */
export async function ansiAndAMegabyte(page, world) {
  const trace = "d1".repeat(16);
  const ansi = "\u001b[31mred\u001b[0m \u001b]8;;https://away.example/\u0007click\u001b]8;;\u0007\u009b2J";
  await sent(world, trace, { "gen_ai.output.messages": messages({ type: "text", content: ansi }), "note": "x".repeat(MB) });
  await page.goto(`${world.base}/trace/${trace}#view=conversation`);
  await settled(page);
  await page.locator("article.assistant").getByText("⟨U+001B⟩[31mred⟨U+001B⟩[0m").first().waitFor();
  assert.equal(await page.locator("main a[href*=away]").count(), 0, "a terminal's link is none here");
  assert.doesNotMatch(await page.locator("main").innerText(), /[\u001b\u0007\u009b]/);
  await page.goto(`${world.base}/trace/${trace}`);
  await settled(page);
  await page.locator("summary", { hasText: "Attributes" }).first().click();
  await page.getByRole("button", { name: /more characters/ }).first().waitFor();
  assert.ok((await held(page)) < 4 * FIRST + MB / 10, "the rest waits");
}

/** A message of 5 MB and a picture of 4 MB: no stall, 20,000 characters at first, all of it on demand. */
export async function aMessageOfFiveMegabytes(page, world) {
  const trace = "d2".repeat(16);
  const text = "All work and no play. ".repeat((5 * MB) / 22);
  const picture = "iVBORw0KGgo".repeat((4 * MB) / 11);
  await sent(world, trace, { "gen_ai.output.messages": messages({ type: "text", content: text }, { type: "blob", mime_type: "image/png", content: picture }) });
  const [{ n }] = await sqlOf(world.base, `SELECT length(output_messages) AS n FROM spans WHERE trace_id = '${trace}'`);
  assert.ok(Number(n) > 9 * MB, `the server keeps all of it: ${n} characters`);
  await page.goto(`${world.base}/trace/${trace}`);
  await page.getByRole("treegrid").waitFor();
  await page.goto("about:blank");
  await page.goto(`${world.base}/sql`);
  await settled(page);
  await noteStalls(page);
  await page.evaluate((to) => {
    history.pushState(null, "", to);
    dispatchEvent(new PopStateEvent("popstate"));
  }, `/trace/${trace}`);
  const box = page.locator("section[aria-label='What it brought'] article.assistant");
  await box.getByRole("button", { name: /more characters/ }).waitFor();
  await settled(page);
  const stall = await longestStall(page);
  console.log(`     message of 5 MB, picture of 4 MB: longest stall ${Math.round(stall)} ms, ${await held(page)} characters shown`);
  assert.ok((await held(page)) < 10 * FIRST, "the rest waits");
  assert.equal(await page.locator("main img").count(), 0, "a picture is named, not loaded");
  await box.getByText(/^blob, [\d,]+ characters/).waitFor();
  inTime(stall, 100, 1000, "longest stall, ms");
  await box.getByRole("button", { name: /more characters/ }).click();
  await until("all of it is shown", async () => (await held(page)) > 5 * MB);
}
