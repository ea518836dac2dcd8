// The trace as a graph: the selection of the waterfall, walked by keyboard, bounded.
import assert from "node:assert/strict";
import { counted, send, sqlOf, until } from "./demo.mjs";
import { settled } from "./shots.mjs";

export async function traceGraph(page, world) {
  const [{ trace_id: id }] = await sqlOf(world.base, "SELECT trace_id, count(*) AS n FROM spans WHERE operation IN ('llm', 'tool', 'agent') AND service_name <> 'large' GROUP BY 1 ORDER BY n DESC, 1 LIMIT 1");
  await page.goto(`${world.base}/trace/${id}`);
  await settled(page);
  await page.getByRole("button", { name: "Graph" }).click();
  const tree = page.getByRole("tree");
  await tree.focus();
  const chosen = () => page.locator("[role=treeitem][aria-selected=true]").getAttribute("id");
  await page.keyboard.press("Home");
  await page.waitForFunction(() => document.querySelector("[role=treeitem][aria-selected=true]")?.id === "box-0");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.querySelector("[role=treeitem][aria-selected=true]")?.id !== "box-0");
  assert.equal(await tree.getAttribute("aria-activedescendant"), await chosen());
  const span = /span=([0-9a-f]+)/.exec(page.url())[1];
  const name = await page.locator("[role=treeitem][aria-selected=true] title").textContent();
  await page.getByRole("button", { name: "Waterfall" }).click();
  await page.waitForSelector("tr[aria-selected=true]");
  assert.ok(page.url().includes(`span=${span}`), "the selection comes along");
  assert.match((await page.locator("tr[aria-selected=true] .named .clip").first().getAttribute("title")) ?? "", new RegExp(`^${name.split(",")[0].replace(/[^\w ]/g, ".")}`));
}

export async function largeGraph(page, world) {
  const trace = "000000000000000000000000000b0b0b";
  const hex = (number) => number.toString(16).padStart(16, "0");
  const spans = Array.from({ length: 1000 }, (_, at) => ({
    trace, id: hex(at + 1), name: `tool ${at}`, start: at * 1000, duration: 500, attributes: { "openinference.span.kind": "TOOL" },
    ...(at === 0 ? {} : { parent: hex(Math.floor((at - 1) / 10) + 1) }),
  }));
  await send(world.otlp, "large", spans);
  await until("the spans are there", async () => Number((await sqlOf(world.base, `SELECT count(*) AS n FROM spans WHERE trace_id = '${trace}'`))[0].n) === 1000);
  await page.goto(`${world.base}/trace/${trace}#view=graph`);
  await page.waitForSelector("[role=treeitem]");
  await counted(page.locator("[role=treeitem]"), 300);
  await page.getByText("300 of 1,000 boxes are drawn").waitFor();
}
