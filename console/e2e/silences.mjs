// Silences: what is silent, silencing an alert or a slice of it, and ending that. Alerts that somebody knows of, and the
// address of one.
import assert from "node:assert/strict";
import { violations } from "./axe.mjs";
import { sqlOf, until } from "./demo.mjs";
import { settled } from "./shots.mjs";
import { stubSilences } from "./silences-stub.mjs";

const at = (hours) => new Date(Date.now() + hours * 3_600_000).toISOString();
const rowsOf = (page) => page.getByRole("group", { name: "All silences" }).locator("tbody tr");
const firing = (page) => page.locator(".alert-card").filter({ has: page.locator(".chip.bad", { hasText: "firing" }) }).first();

async function opened(page, world) {
  await page.goto(`${world.base}/alerts`);
  await settled(page);
}

/** Fills the form and sends it. */
async function silence(form, length, reason) {
  await form.getByRole("button", { name: length, exact: true }).press("Enter");
  await form.getByRole("textbox", { name: "Who" }).fill("Ada");
  await form.getByRole("textbox", { name: "Reason" }).fill(reason);
  await form.getByRole("button", { name: "Tell nobody" }).click();
}

/** Against answers that are written here: those of a configuration, and hostile ones. */
export async function silences(page, world) {
  const config = { slice: null, by: null, comment: null, source: "config" };
  const { asked } = await stubSilences(page, [
    { ...config, id: "c1", alert: "other", since: at(-48), until: at(-24) }, { ...config, id: "c2", alert: null, since: at(24), until: at(48) },
    { id: "x/../1", alert: "other", slice: { request_model: "<img src=x onerror=window.hit=1>" }, since: at(-1), until: at(1), by: "\u202eeve", comment: "<script>window.hit=1</script>", source: "http" },
  ]);
  await opened(page, world);
  const states = await rowsOf(page).locator(".chip").allInnerTexts();
  assert.deepEqual(states.map((text) => text.replace(/^\S+\s*/, "")), ["silent now", "ahead", "over"]);
  assert.deepEqual(await rowsOf(page).getByText("groundline.toml").count(), 2);
  assert.equal(await rowsOf(page).getByRole("button", { name: "End" }).count(), 1, "those of the configuration end there");
  await rowsOf(page).getByText("⟨U+202E⟩eve").waitFor();
  const card = firing(page);
  await card.getByRole("button", { name: "Silence" }).click();
  const form = card.getByRole("form", { name: "Silence" });
  assert.deepEqual(await violations(page), []);
  await silence(form, "4 h", "a deployment");
  await card.getByText("silent until").waitFor();
  assert.deepEqual(asked[0], { alert: "hallucination-drift", slice: { request_model: "model-b" }, for: "4h", comment: "a deployment", by: "Ada" });
  await card.locator(".chip.bad", { hasText: "firing" }).waitFor();
  await silence(page.locator("section[aria-label=Silences]").getByRole("form", { name: "Silence" }), "1 d", "all of them");
  await until("it was sent", async () => asked.length === 2);
  assert.deepEqual([asked[1].alert, asked[1].slice, asked[1].for], [null, null, "24h"]);
  await rowsOf(page).filter({ hasText: "<script>" }).getByRole("button", { name: "End" }).click();
  await until("it was ended", async () => asked.length === 3);
  assert.deepEqual(asked[2], { deleted: "x/../1" });
  assert.equal(await page.evaluate(() => window.hit), undefined);
}

/** The same against the server: a slice is silenced, which hides nothing, and the silence is ended. */
export async function silencesOfTheServer(page, world) {
  await opened(page, world);
  const card = firing(page);
  await card.getByRole("button", { name: "Silence" }).click();
  await silence(card.getByRole("form", { name: "Silence" }), "1 h", "a deployment, <b>watched</b>");
  await card.getByText("silent until").waitFor();
  await card.locator(".chip.bad", { hasText: "firing" }).waitFor();
  const row = rowsOf(page).filter({ hasText: "a deployment, <b>watched</b>" });
  await row.getByText("Ada").waitFor();
  const list = async () => (await (await fetch(`${world.base}/v1/alerts/silences`)).json()).silences.filter((each) => each.comment === "a deployment, <b>watched</b>");
  const [made] = await list();
  assert.deepEqual([made.slice, made.by, made.source], [{ request_model: "model-b" }, "Ada", "http"]);
  const hours = (Date.parse(made.until) - Date.parse(made.since)) / 3_600_000;
  assert.ok(Math.abs(hours - 1) < 0.01, `${hours} h`);
  await row.getByRole("button", { name: "End" }).click();
  await until("nothing is silent", async () => (await list()).every((each) => Date.parse(each.until) <= Date.now()));
  await card.getByText("silent until").waitFor({ state: "detached" });
}

/** Messages link here: the alert stands first, a quiet one too; one that is gone is said to be. */
export async function alertByAddress(page, world) {
  const { alerts } = await (await fetch(`${world.base}/v1/alerts`)).json();
  const quiet = alerts.find((each) => each.state !== "firing");
  const link = (alert, slice) => `${world.base}/alerts#alert=${encodeURIComponent(alert)}&slice=${encodeURIComponent(slice)}`;
  await page.goto(link(quiet.alert, quiet.slice));
  await settled(page);
  const first = page.locator(".alert-card").first();
  assert.equal(await first.getAttribute("aria-current"), "true");
  await first.getByText(quiet.slice, { exact: true }).waitFor();
  await page.goto("about:blank");
  await page.goto(link(quiet.alert, "request_model=gone"));
  await page.getByText("is not here").waitFor();
  await page.goto("about:blank");
  await page.goto(`${world.base}/?alert=${encodeURIComponent(quiet.alert)}`);
  await page.waitForFunction((name) => location.pathname === "/alerts" && decodeURIComponent(location.hash) === `#alert=${name}`, quiet.alert);
  await page.locator(".alert-card[aria-current=true]").waitFor();
}

export async function acknowledge(page, world) {
  await page.goto(`${world.base}/alerts`);
  await settled(page);
  const card = page.locator(".alert-card").filter({ has: page.locator(".chip.bad", { hasText: "firing" }) }).first();
  await card.getByRole("button", { name: "Acknowledge" }).click();
  const form = card.getByRole("form", { name: "Acknowledge" });
  await form.getByRole("textbox", { name: "Who" }).fill("Ada");
  await form.getByRole("textbox", { name: "Note" }).fill("rolled back, <b>watching</b>");
  await form.getByRole("button", { name: "1 h", exact: true }).press("Enter");
  assert.deepEqual(await violations(page), []);
  await form.getByRole("button", { name: "I know of it" }).click();
  await card.getByText("nobody is told again until then").waitFor();
  await card.getByText("rolled back, <b>watching</b>").first().waitFor();
  // It hides nothing: the alert fires on, here and in the table.
  await card.locator(".chip.bad", { hasText: "firing" }).waitFor();
  await until("the row of the acknowledgement", async () => {
    const [row] = await sqlOf(world.base, "SELECT state, message FROM alerts ORDER BY evaluated_at DESC LIMIT 1");
    return row.state === "firing" && row.message.startsWith("acknowledged by Ada until ");
  });
}
