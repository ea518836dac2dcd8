// What a user's script does with the client of the lab. Arguments: what to do, the address, the file that counts the calls.

import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { Lab } from "../../clients/typescript/groundline-lab.mjs";

const [what, url, log, dieAfter] = process.argv.slice(2);
const lab = new Lab({ url });
let calls = 0;

async function answer({ input, attempt }) {
  appendFileSync(log, `${input}\n`);
  calls += 1;
  if (calls === Number(dieAfter)) process.exit(9);
  // The others begin meanwhile.
  await new Promise((soon) => setTimeout(soon, 0));
  const number = Number.parseInt(input.split(" ")[1]);
  if (number === 3 && attempt === 1) throw new Error("nobody knows 3");
  const known = { in_tokens: 3, cost_usd: 0.001, duration: 0.25, finish_reason: "stop" };
  return { output: `answer number ${number}`, contexts: ["a book"], ...known };
}

const exact = ({ output, expected }) => (expected == null ? { skipped: "expected" } : output === expected);
const level = async ({ output, metadata }) => ({ value: metadata.level, label: "low", rationale: output });
const broken = () => 1 / 0;
const scores = [exact, level, broken];
const refused = (message, call) => assert.rejects(async () => call(), (error) => error.message.includes(message) || assert.fail(error));

if (what === "run") {
  const options = { dataset: "d", evaluators: ["rouge", ...scores], target: { commit: "abc" } };
  const experiment = await lab.experiment("v1", options);
  console.log(String(await experiment.run(answer, { concurrency: 8 })));
} else if (what === "retry") {
  const told = await (await lab.open("v1", scores)).run(answer, { retry: "errors" });
  assert.equal(told.summary.errors, 0);
  assert.equal(told.metric("exact").passed.estimate, 1);
  console.log(String(told));
} else if (what === "local") {
  const items = [{ input: "a", expected: "A" }, "b", "b", { input: { text: "c" } }];
  const first = await lab.experiment("local", { data: items, evaluators: [exact] });
  const told = await first.run(({ input }) => input.toUpperCase());
  console.log(String(told));
  // An object has no toUpperCase(): an error of that run alone. Without an expected answer there is no score.
  assert.deepEqual([told.summary.done, told.summary.errors], [4, 1]);
  assert.deepEqual([told.metric("exact").scores, told.metric("exact").skipped], [1, 2]);
  await first.markBaseline();
  // What is finished is not gone on with; what costs too much, or is aborted, stops, and goes on.
  const capped = { data: items, evaluators: [exact], parameters: { p: 1 } };
  const second = await lab.experiment("local", capped);
  assert.notEqual(second.experimentId, first.experimentId);
  const paused = await second.run(() => ({ output: "A", cost_usd: 1 }), { concurrency: 1, maxCost: 2 });
  assert.deepEqual([paused.experiment.status, paused.summary.done], ["paused", 2]);
  const again = await lab.experiment("local", capped);
  assert.equal(again.experimentId, second.experimentId);
  const stop = new AbortController();
  const stopping = () => (stop.abort(), "A");
  await refused("aborted", () => again.run(stopping, { concurrency: 1, signal: stop.signal }));
  assert.equal((await again.summary()).summary.done, 3);
  const late = await again.run(({ signal }) => new Promise((_, no) => signal.addEventListener("abort", no)), { timeout: 20 });
  assert.deepEqual([late.summary.done, late.summary.errors], [4, 1]);
  const compared = await again.compare();
  assert.equal(compared.baseline.experiment_id, first.experimentId);
  console.log(String(compared));
} else if (what === "faults") {
  await refused("is no address", () => new Lab({ url: "localhost:1" }));
  await refused("give dataset or data", () => lab.experiment("x", {}));
  await refused("evaluators: ", () => lab.experiment("x", { dataset: "d", evaluators: ["nothing"] }));
  await refused('no dataset "nobody"', () => lab.experiment("x", { dataset: "nobody" }));
  await refused("two scores have one name", () => lab.experiment("x", { dataset: "d", evaluators: [exact, exact] }));
  const experiment = await lab.experiment("x", { dataset: "d" });
  await refused("it may be 1 to 256", () => experiment.run(answer, { concurrency: 0 }));
  await experiment.cancel();
  await refused("was cancelled", () => experiment.run(answer));
  await refused("the token is not known", () => new Lab({ url, token: "wrong" }).open("x"));
} else {
  assert.fail(`there is nothing called ${what}`);
}
