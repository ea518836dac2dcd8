// A span set whose every field is a vector. The runner fails on a dialog, a request to another host, or a policy report.
import assert from "node:assert/strict";
import { send, sqlOf, until } from "./demo.mjs";
import { settled } from "./shots.mjs";
import { VECTORS, hostileSpans } from "./vectors.mjs";

export async function hostileSpanSet(page, world) {
  await send(world.otlp, "<script>window.hit=1</script>", hostileSpans());
  const where = "service_name = '<script>window.hit=1</script>'";
  await until("the spans are there", async () => Number((await sqlOf(world.base, `SELECT count(*) AS n FROM spans WHERE ${where}`))[0].n) === 2 * VECTORS.length);
  const rows = await sqlOf(world.base, `SELECT DISTINCT trace_id FROM spans WHERE ${where} ORDER BY 1`);
  const fragment = encodeURIComponent(where);
  await page.goto(`${world.base}/explore#range=1h&where=${fragment}`);
  await settled(page);
  for (let at = 0; at < 6; at++) await page.keyboard.press("j");
  await settled(page);
  for (const path of ["/#range=1h", "/scores#range=1h", "/sampling#range=1h", "/system#range=1h", "/alerts#range=1h", `/sql#q=${encodeURIComponent(`SELECT * FROM spans WHERE ${where}`)}`]) {
    await page.goto(world.base + path);
    await settled(page);
  }
  await page.click("[data-run]");
  await settled(page);
  for (const { trace_id: id } of rows) {
    await page.goto(`${world.base}/trace/${id}#view=conversation`);
    await settled(page);
    await page.evaluate(async () => {
      document.querySelectorAll("main details").forEach((each) => (each.open = true));
      // What opens is made then.
      for (let frame = 0; frame < 3; frame++) await new Promise((resolve) => requestAnimationFrame(resolve));
    });
  }
  assert.equal(await page.evaluate(() => window.hit), undefined, "nothing ran");
  assert.equal(await page.locator("main script, main iframe, main object, main embed, main style, main link, main base, main form[action]").count(), 0);
  const links = await page.locator("main a").evaluateAll((all) => all.map((each) => each.protocol));
  assert.ok(links.every((protocol) => protocol === "http:" || protocol === "https:"), links.join());
}

export async function hostileAddresses(page, world) {
  for (const text of ["<img src=x onerror=window.hit=1>", "' OR 1=1 --", "true) OR (true", "\u0000", "%"]) {
    const sent = encodeURIComponent(text);
    for (const path of [`/trace/${sent}`, `/scores/${sent}#evaluator=${sent}&where=${sent}`, `/explore#where=${sent}&row=${sent}&cols=${sent}`, `/sql#q=${sent}&kind=${sent}`, `/#range=${sent}&from=${sent}&to=${sent}`]) {
      await page.goto("about:blank");
      await page.goto(world.base + path);
      await settled(page);
    }
  }
  assert.equal(await page.evaluate(() => window.hit), undefined);
}
