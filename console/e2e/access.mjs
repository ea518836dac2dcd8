// Every page in both themes, at 1280 and 390 px: without a violation of WCAG A or AA that axe-core knows, and not wider than
// the window.
import assert from "node:assert/strict";
import { violations } from "./axe.mjs";
import { sqlOf } from "./demo.mjs";
import { RECENT } from "./pages.mjs";
import { settled } from "./shots.mjs";

async function pages(world) {
  const [{ trace_id: id }] = await sqlOf(world.base, "SELECT trace_id FROM scores_latest WHERE metric = 'hallucination' AND status = 'ok' ORDER BY value LIMIT 1");
  return [
    `/#${RECENT}`, `/explore#${RECENT}`, `/scores#${RECENT}`, `/scores/hallucination#${RECENT}`, `/scores/hallucination#show=skipped&trend=mean&${RECENT}`, "/alerts",
    `/alerts#alert=hallucination-drift&slice=request_model=model-a&${RECENT}`, "/review", "/review/hallucination", `/sampling#${RECENT}`, "/system", "/sql", `/trace/${id}`,
    `/trace/${id}#view=conversation`, `/trace/${id}#view=graph`, "/trace/abc", "/lab/datasets", "/lab/experiments", "/lab/compare", "/lab/leaderboard",
    "/lab/playground",
  ];
}

async function clean(page, world) {
  const found = [];
  for (const path of await pages(world)) {
    await page.goto("about:blank");
    await page.goto(world.base + path);
    await settled(page);
    const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    if (wide > room) found.push(`${path}: ${wide} px wide in ${room}`);
    for (const each of await violations(page)) found.push(`${path}: ${each.id} (${each.count}) ${each.nodes[0]}`);
  }
  assert.deepEqual(found, []);
}

const WIDE = { viewport: { width: 1280, height: 800 } };
const SMALL = { viewport: { width: 390, height: 844 } };
const DARK = { colorScheme: "dark" };

export const axeLight = async (page, world) => clean(page, world);
axeLight.context = WIDE;
export const axeDark = async (page, world) => clean(page, world);
axeDark.context = { ...WIDE, ...DARK };
export const axeSmall = async (page, world) => clean(page, world);
axeSmall.context = SMALL;
export const axeSmallDark = async (page, world) => clean(page, world);
axeSmallDark.context = { ...SMALL, ...DARK };

export async function axeOfWhatOpens(page, world) {
  await page.goto(`${world.base}/explore#${RECENT}`);
  await settled(page);
  await page.locator("tbody button.cell").first().click();
  await settled(page);
  const found = await violations(page);
  await page.keyboard.press("?");
  found.push(...(await violations(page)));
  await page.keyboard.press("Escape");
  await page.locator("[data-range]").click();
  found.push(...(await violations(page)));
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("textbox", { name: "Save this as" }).waitFor();
  found.push(...(await violations(page)));
  await page.goto(`${world.base}/#${RECENT}`);
  await settled(page);
  await page.getByRole("button", { name: "Choose metrics" }).click();
  await page.getByRole("checkbox", { name: "insult" }).waitFor();
  found.push(...(await violations(page)));
  await page.goto(`${world.base}/sql#q=SELECT%20*%20FROM%20traces`);
  await settled(page);
  await page.click("[data-run]");
  await settled(page);
  found.push(...(await violations(page)));
  assert.deepEqual(found.map((each) => `${each.id} ${each.nodes[0]}`), []);
}
