// A span set whose every field is a vector. The runner fails on a dialog, a request to another host, or a policy report.
import assert from "node:assert/strict";
import { load } from "../test/load.mjs";
import { send, sqlOf, until } from "./demo.mjs";
import { post } from "./lab-data.mjs";
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
  await nothingRan(page);
}

async function nothingRan(page) {
  assert.equal(await page.evaluate(() => window.hit), undefined, "nothing ran");
  assert.equal(await page.locator("main script, main iframe, main object, main embed, main style, main link, main base, main form[action]").count(), 0);
  const links = await page.locator("main a").evaluateAll((all) => all.map((each) => each.protocol));
  assert.ok(links.every((protocol) => protocol === "http:" || protocol === "https:"), links.join());
}

/** The same texts where people and targets bring them: items of a dataset, answers and scores of experiments, annotations. */
export async function hostileLab(page, world) {
  const { line } = await load("src/lib/text.ts");
  const dataset = `<img src=x onerror=window.hit=1> ${Date.now()}`;
  const path = `/v1/lab/datasets/${encodeURIComponent(dataset)}`;
  await post(world.base, "/v1/lab/datasets", { name: dataset, description: VECTORS[0], labels: [VECTORS[7]] });
  const put = VECTORS.map((vector, at) => ({ external_id: String(at), input: { question: vector }, expected: vector, tags: [vector], split: vector, metadata: { [vector]: vector } }));
  await post(world.base, `${path}/items`, { put, message: VECTORS[5] });
  await post(world.base, `${path}/items`, { put: [{ ...put[0], expected: VECTORS[16] }], message: VECTORS[8] });
  const made = async (name, passed) => {
    const { experiment_id: id } = await post(world.base, "/v1/lab/experiments", { name, dataset, target: { kind: "existing" }, evaluators: [], repetitions: 1, baseline: passed });
    const todo = await (await fetch(`${world.base}/v1/lab/experiments/${id}/todo`)).json();
    const answer = ({ item_id, repetition, attempt, external_id: at }) => ({ item_id, repetition, attempt, output: VECTORS[Number(at)], scores: [{ name: "<b>right</b>", value: passed ? 1 : 0, passed, rationale: VECTORS[Number(at)] }] });
    await post(world.base, `/v1/lab/experiments/${id}/runs`, todo.map(answer));
    return id;
  };
  const [first, second] = [await made("<script>window.hit=1</script>", true), await made("\"><svg onload=window.hit=1>", false)];
  const shown = async (address) => {
    await page.goto("about:blank");
    await page.goto(world.base + address);
    await settled(page);
    await nothingRan(page);
  };
  await shown(`/lab/datasets#dataset=${encodeURIComponent(dataset)}`);
  const cells = await page.getByRole("group", { name: "Items", exact: true }).locator("tbody td").evaluateAll((all) => all.map((cell) => cell.textContent));
  for (const vector of VECTORS) assert.ok(cells.includes(line(vector, 160)), `as text: ${line(vector, 160)}`);
  await shown(`/lab/experiments#experiment=${second}&slice=tag`);
  await page.locator("details.moved").first().getByText("<b>right</b>").waitFor();
  await shown(`/lab/compare#new=${second}&baseline=${first}&slice=split`);
  await page.locator("section[aria-label=Regressions] summary").first().click();
  await page.locator(".sides li").first().waitFor();
  await nothingRan(page);
  await shown(`/lab/leaderboard#experiments=${first},${second}&one=${second}`);
  await page.getByRole("group", { name: "Places by metric" }).getByText("<b>right</b>").first().waitFor();

  // Of its own at each run: a server may have been asked before.
  const trace = Date.now().toString(16).padStart(32, "0");
  await send(world.otlp, "annotated", [{ trace, id: trace.slice(16), name: "annotated" }]);
  await until("the span is there", async () => (await sqlOf(world.base, `SELECT trace_id FROM spans WHERE trace_id = '${trace}'`)).length === 1);
  await post(world.base, "/v1/annotations", VECTORS.map((vector) => ({ trace_id: trace, name: vector, label: vector, comment: vector, annotator: vector })));
  await until("the annotations are there", async () => Number((await sqlOf(world.base, `SELECT count(*) AS n FROM annotations WHERE trace_id = '${trace}'`))[0].n) === VECTORS.length);
  await shown(`/trace/${trace}`);
  const said = page.locator("section[aria-label=Annotations] li");
  assert.equal(await said.count(), VECTORS.length);
  await said.getByText(VECTORS[0], { exact: true }).first().waitFor();
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
