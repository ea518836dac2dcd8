// Every page in both themes and at 390 px, without a violation of WCAG A or AA that axe-core knows.
import assert from "node:assert/strict";
import { violations } from "./axe.mjs";
import { sqlOf } from "./demo.mjs";
import { DEMO } from "./flows.mjs";
import { settled } from "./shots.mjs";

async function pages(world) {
  const [{ trace_id: id }] = await sqlOf(world.base, "SELECT trace_id FROM scores_latest WHERE metric = 'hallucination' AND status = 'ok' ORDER BY value LIMIT 1");
  return [
    `/#${DEMO}`, `/explore#${DEMO}`, "/scores", "/scores/hallucination", "/alerts", "/review", "/review/hallucination", "/sampling", "/system", "/sql", `/trace/${id}`,
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
    for (const each of await violations(page)) found.push(`${path}: ${each.id} (${each.count}) ${each.nodes[0]}`);
  }
  assert.deepEqual(found, []);
}

export const axeLight = async (page, world) => clean(page, world);
export const axeDark = async (page, world) => clean(page, world);
axeDark.context = { colorScheme: "dark" };
export const axeSmall = async (page, world) => clean(page, world);
axeSmall.context = { viewport: { width: 390, height: 844 } };

export async function axeOfWhatOpens(page, world) {
  await page.goto(`${world.base}/explore#${DEMO}`);
  await settled(page);
  await page.locator("tbody button.cell").first().click();
  await settled(page);
  const found = await violations(page);
  await page.keyboard.press("?");
  found.push(...(await violations(page)));
  await page.keyboard.press("Escape");
  await page.locator("[data-range]").click();
  found.push(...(await violations(page)));
  await page.goto(`${world.base}/sql#q=SELECT%20*%20FROM%20traces`);
  await settled(page);
  await page.click("[data-run]");
  await settled(page);
  found.push(...(await violations(page)));
  assert.deepEqual(found.map((each) => `${each.id} ${each.nodes[0]}`), []);
}
