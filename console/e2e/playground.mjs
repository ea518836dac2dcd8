// The playground: a prompt is written, tried on items and on a span's input, and saved as an experiment that the server runs.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { violations } from "./axe.mjs";
import { send, sqlOf, until } from "./demo.mjs";
import { post } from "./lab-data.mjs";
import { withServer } from "./server.mjs";
import { settled } from "./shots.mjs";

/** A model that answers a capital, and shouts where it is asked to. */
function model() {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    const { messages } = JSON.parse(text);
    const asked = messages.map((message) => message.content).join(" ");
    const capital = { France: "Paris", Spain: "Madrid", Italy: "Rome" }[/France|Spain|Italy/.exec(asked)?.[0]] ?? "unknown";
    const said = /loud/i.test(asked) ? `${capital.toUpperCase()}!` : capital;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ choices: [{ message: { role: "assistant", content: said } }], usage: { prompt_tokens: 12, completion_tokens: 1 } }));
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

export async function playground(page, world) {
  const asked = await model();
  // The server's configuration names the model.
  const rest = `[lab.targets.capitals]\nkind = "openai"\nbase_url = "http://127.0.0.1:${asked.address().port}/v1"\nmodel = "small"\n`;
  try {
    await withServer(world, () => ({ rest }), async ({ base, otlp }) => {
      await written(page, base);
      await saved(page, base);
      await taken(page, base, otlp);
      await keptFromTrace(page, base);
    });
  } finally {
    asked.close();
  }
}

const answers = (page) => page.getByRole("group", { name: "Answers side by side" });
const clean = async (page) => assert.deepEqual((await violations(page)).map((each) => `${each.id} ${each.nodes[0]}`), []);

/** Two prompts on two items, with scores. */
async function written(page, base) {
  await post(base, "/v1/lab/datasets", { name: "capitals" });
  const put = [["France", "Paris"], ["Spain", "Madrid"], ["Italy", "Rome"]].map(([country, expected]) => ({ input: { question: `What is the capital of ${country}?` }, expected }));
  await post(base, "/v1/lab/datasets/capitals/items", { put });
  await page.goto(`${base}/lab/playground`);
  await page.getByRole("checkbox", { name: /Ask .*Spain/ }).check();
  await page.getByRole("checkbox", { name: "rouge", exact: true }).check();
  await page.getByRole("button", { name: "Write another" }).last().click();
  const prompt = page.getByRole("textbox", { name: "Prompt", exact: true });
  await prompt.fill("Briefly: {{input.answer}}");
  await page.waitForSelector("text=item 1 has no {{input.answer}}");
  await prompt.fill("Briefly: ");
  await page.getByRole("button", { name: "{{input.question}}", exact: true }).click();
  assert.equal(await prompt.inputValue(), "Briefly: {{input.question}}");
  await page.getByRole("button", { name: "Another column" }).click();
  await page.getByRole("textbox", { name: "Prompt", exact: true }).last().fill("Loud: {{input.question}}");
  await page.keyboard.press("Control+Enter");
  await answers(page).getByText("MADRID!").waitFor();
  await settled(page);
  const cells = await answers(page).locator("tbody td .text").allInnerTexts();
  assert.deepEqual(cells, ["Paris", "PARIS!", "Madrid", "MADRID!"]);
  assert.match(await answers(page).locator("tbody td").first().innerText(), /12 \/ 1 tokens[\s\S]*passed/);
  assert.match(decodeURIComponent(page.url()), /v=\[\{"target":"capitals"[\s\S]*Loud: \{\{input\.question\}\}/, "the prompts are in the address");
  await clean(page);
  const stored = await sqlOf(base, "SELECT (SELECT count(*) FROM experiments) + (SELECT count(*) FROM runs) AS n");
  assert.equal(Number(stored[0].n), 0, "nothing of it is stored");
  await page.getByRole("textbox", { name: "Parameters" }).first().fill('{"temperature": 0}');
  await page.waitForSelector("text=changed since");
}

/** The second column becomes an experiment over all items. */
async function saved(page, base) {
  await page.getByRole("button", { name: "Save as an experiment" }).last().click();
  await page.getByRole("textbox", { name: "Name" }).fill("loud");
  await page.keyboard.press("Enter");
  await page.waitForSelector("text=3 of 3 runs");
  await clean(page);
  await page.getByRole("link", { name: "Experiment", exact: true }).click();
  await page.waitForSelector("text=3 of 3 runs of 3 items");
  await settled(page);
  assert.match(await page.locator("section[aria-label=Runs]").innerText(), /What is the capital of/);
  assert.deepEqual((await sqlOf(base, "SELECT output FROM runs_latest ORDER BY output")).map((row) => row.output), ['"MADRID!"', '"PARIS!"', '"ROME!"']);
  await page.getByRole("link", { name: "Open in the playground" }).click();
  await page.waitForFunction(() => [...document.querySelectorAll("textarea")].some((each) => each.value === "Loud: {{input.question}}"));
}

/** A call of production, asked again from its trace, and put into the dataset. */
async function taken(page, base, otlp) {
  const [trace, span] = ["5".repeat(32), "6".repeat(16)];
  const messages = [{ role: "system", parts: [{ type: "text", content: "Be brief." }] }, { role: "user", parts: [{ type: "text", content: "The capital of Italy?" }] }];
  const attributes = { "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": JSON.stringify(messages),
    "gen_ai.output.messages": JSON.stringify([{ role: "assistant", parts: [{ type: "text", content: "Rome, of course." }] }]) };
  await send(otlp, "shop", [{ trace, id: span, name: "chat", attributes }]);
  await until("the span is there", async () => (await sqlOf(base, `SELECT span_id FROM spans WHERE trace_id = '${trace}'`)).length === 1);
  await page.goto(`${base}/trace/${trace}`);
  await page.getByRole("link", { name: "Ask it in the playground" }).click();
  await page.waitForSelector("text=The capital of Italy?");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await answers(page).getByText("Rome", { exact: true }).waitFor();
  await clean(page);
  await page.getByRole("button", { name: "Put it in" }).click();
  await until("it is an item", async () => (await sqlOf(base, `SELECT source_span_id FROM dataset_at('capitals') WHERE source_trace_id = '${trace}'`))[0]?.source_span_id === span);
}

/** The same call from its trace: into a dataset that is made for it, with its answer as what is expected. */
async function keptFromTrace(page, base) {
  const trace = "5".repeat(32);
  await page.goto(`${base}/trace/${trace}`);
  await page.getByRole("button", { name: "Add to a dataset" }).click();
  const dialog = page.getByRole("dialog", { name: "Add to a dataset" });
  await dialog.getByText("The capital of Italy?").waitFor();
  await dialog.getByRole("combobox", { name: "Dataset" }).fill("from traces");
  await dialog.getByRole("checkbox", { name: /This answer is right/ }).check();
  await clean(page);
  await dialog.getByRole("button", { name: "Make it and put it in" }).click();
  await dialog.getByText("✓ in").waitFor();
  const [item] = await sqlOf(base, "SELECT expected, source_trace_id, input FROM dataset_at('from traces')");
  assert.equal(item.source_trace_id, trace);
  assert.equal(item.expected, '"Rome, of course."');
  assert.match(item.input, /The capital of Italy\?/);
  await dialog.getByRole("link", { name: "from traces" }).click();
  await page.waitForFunction(() => location.pathname === "/lab/datasets");
}
