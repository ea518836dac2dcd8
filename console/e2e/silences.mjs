// Silences: what the configuration has, and the lines that would silence an alert. And alerts that somebody knows of.
import assert from "node:assert/strict";
import { violations } from "./axe.mjs";
import { sqlOf, until } from "./demo.mjs";
import { settled } from "./shots.mjs";

export async function silences(page, world) {
  const at = (hours) => new Date(Date.now() + hours * 3_600_000).toISOString();
  // The demo has no silence: the server's answer gets two, one of them now.
  await page.route("**/v1/status", async (route) => {
    const response = await route.fetch();
    const status = await response.json();
    status.configuration.alerts[0].silences = [`${at(-48)}/${at(-24)}`, `${at(-1)}/${at(1)}`];
    await route.fulfill({ response, json: status });
  });
  await page.goto(`${world.base}/alerts`);
  await settled(page);
  const table = page.getByRole("group", { name: "Silences as configured" });
  assert.deepEqual(await table.locator("tbody .chip").allInnerTexts().then((all) => all.map((text) => text.replace(/^\S+\s*/, ""))), ["silent now", "over"]);
  const card = page.locator(".alert-card").first();
  await card.getByText("silent until").waitFor();
  await card.getByRole("button", { name: "Silence" }).click();
  const form = page.locator("#silence");
  assert.match(page.url(), /silence=/);
  await form.getByRole("button", { name: "4 h" }).press("Enter");
  await form.getByRole("textbox", { name: "Reason" }).fill("a deployment");
  const lines = (await form.locator("pre").innerText()).split("\n").filter((line) => line.startsWith("    "));
  assert.equal(lines.length, 2, "what is silent now stays, what is over goes");
  const [, from, to] = /"(.*)\/(.*)",  # a deployment/.exec(lines[1]);
  assert.equal(Date.parse(to) - Date.parse(from), 4 * 3_600_000);
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
