// The description and the answers of an evaluator, over pipes and over HTTP.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { Readable } from "node:stream";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { evaluator } from "../index.js";
import { httpServer, serveLines } from "../serve.js";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

const tone = evaluator(
  {
    name: "tone",
    version: "2",
    inputs: ["answer", "question?"],
    metrics: [{ name: "politeness", threshold: 0.5 }, { name: "promise", better: "lower" }],
  },
  async ({ answer, question }) => {
    if (answer === "throw") throw new Error("no model");
    return { scores: { politeness: { value: answer === "nan" ? NaN : 0.75, label: question }, promise: answer !== "tomorrow" } };
  },
);
const length = evaluator({ name: "length", version: "1", inputs: ["answer"] }, ({ answer }) => answer.length);

/** As it is sent. */
const sent = (answer) => JSON.parse(JSON.stringify(answer));

async function quietly(act) {
  const { error } = console;
  console.error = () => {};
  try {
    return await act();
  } finally {
    console.error = error;
  }
}

test("the description is as given", () => {
  assert.deepEqual(tone.describe().inputs, ["answer", "question?"]);
  assert.deepEqual(tone.describe().metrics[1], { name: "promise", better: "lower", threshold: null });
  assert.equal(length.describe().metrics[0].name, "length");
  const make = (more) => () => evaluator({ name: "a", version: "1", inputs: ["answer"], ...more }, () => 1);
  assert.throws(make({ inputs: ["anser"] }), /anser is no input/);
  assert.throws(make({ inputs: [] }), /inputs is empty/);
  assert.throws(make({ version: "" }), /version/);
  assert.throws(make({ metrics: [{ name: "a" }, { name: "a" }] }), /name of its own/);
  assert.throws(make({ metrics: [{ name: "a", better: "up" }] }), /better/);
});

test("scores are told by metric", async () => {
  assert.deepEqual(sent(await tone.score({ id: "1", answer: "x", question: "q" })), {
    id: "1",
    scores: [{ metric: "politeness", value: 0.75, label: "q" }, { metric: "promise", passed: true }],
  });
  assert.deepEqual(sent(await length.score({ id: "2", answer: "abc" })).scores, [{ metric: "length", value: 3 }]);
});

test("what is missing is skipped, and what fails is an error", async () => {
  const skipped = await tone.score({ id: "1", question: "q" });
  assert.deepEqual(skipped.scores.map((score) => score.skipped), ["answer", "answer"]);
  const failed = await quietly(() => tone.score({ id: "1", answer: "throw" }));
  assert.deepEqual(failed, { id: "1", error: "Error: no model" });
  const nan = await tone.score({ id: "1", answer: "nan" });
  assert.match(nan.scores[0].error, /finite/);
  assert.equal(nan.scores[1].passed, true);
  const text = evaluator({ name: "a", version: "1", inputs: ["answer"] }, () => "high");
  assert.match((await quietly(() => text.score({ id: "1", answer: "x" }))).error, /string is no number/);
});

test("lines are answered in order and garbage is left out", async () => {
  const lines = ['{"type":"describe","protocol":1}', "", '{"id":"a","answer":"x"}', '{"id":"b","answer":"xy"}'];
  const answers = [];
  await serveLines(length, Readable.from([lines.join("\n")]), { write: async (text) => answers.push(JSON.parse(text)) });
  assert.deepEqual(answers.map((one) => one.type ?? one.id), ["description", "a", "b"]);
});

test("the example answers and ends with its input", () => {
  const item = { id: "é", answer: "It ships tomorrow, stupid." };
  const input = `${JSON.stringify({ type: "describe", protocol: 1 })}\ngarbage\n[1]\n${JSON.stringify(item)}\n`;
  const done = spawnSync(process.execPath, [path("../examples/tone.js")], { input });
  assert.equal(done.status, 0, String(done.stderr));
  const [description, answer] = String(done.stdout).trim().split("\n").map((line) => JSON.parse(line));
  assert.equal(description.name, "tone");
  assert.equal(answer.id, "é");
  assert.deepEqual(answer.scores.map(({ value, passed }) => value ?? passed), [0.5, false]);
  assert.equal(String(done.stderr).split("left out").length, 3);
});

test("what is printed is no answer", () => {
  const program = `import { evaluator } from ${JSON.stringify(path("../index.js"))};
    await evaluator({ name: "a", version: "1", inputs: ["answer"] }, () => { console.log("judging"); return 1; }).run([]);`;
  const done = spawnSync(process.execPath, ["--input-type=module", "-e", program], { input: '{"id":"a","answer":"x"}\n' });
  assert.equal(JSON.parse(String(done.stdout)).id, "a");
  assert.match(String(done.stderr), /judging/);
});

test("a batch is answered over HTTP, and what is not as agreed is refused", async () => {
  const server = httpServer(length, 1, "secret");
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const ask = async (path, body, token = "secret") => {
    const options = { method: body ? "POST" : "GET", headers: { authorization: `Bearer ${token}` } };
    if (body) options.body = JSON.stringify(body);
    const answer = await fetch(`http://127.0.0.1:${server.address().port}${path}`, options);
    return [answer.status, await answer.json()];
  };
  try {
    assert.equal((await ask("/base/describe"))[1].name, "length");
    const [status, told] = await ask("/score", { protocol: 1, items: [{ id: "a", answer: "x" }, { id: "b", answer: "xy" }] });
    assert.deepEqual([status, told.version], [200, "1"]);
    assert.deepEqual(told.answers.map((answer) => answer.scores[0].value), [1, 2]);
    for (const [path, body, token, wanted] of [
      ["/describe", undefined, "other", 401],
      ["/other", undefined, "secret", 404],
      ["/score", { protocol: 2, items: [] }, "secret", 400],
      ["/score", { protocol: 1 }, "secret", 400],
      ["/score", { protocol: 1, items: [1] }, "secret", 400],
    ]) {
      const [status, told] = await ask(path, body, token);
      assert.ok(status === wanted && told.error, `${path}: ${status} ${JSON.stringify(told)}`);
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("the command finds the evaluator that a module exports, or says what to do", async () => {
  const run = (...args) => spawnSync(process.execPath, [path("../command.js"), ...args], { input: '{"id":"1","answer":"hi"}\n', encoding: "utf8" });
  const found = run(path("../examples/tone.js"));
  assert.equal(JSON.parse(found.stdout).scores.length, 2, found.stderr);
  for (const [args, part] of [
    [[], "usage: "],
    [[`${path("../examples/tone.js")}:other`], "exports tone: name one of them"],
    [[path("../serve.js")], "exports no evaluator"],
    [["nowhere.js"], "Cannot find"],
    [[path("../examples/tone.js"), "--http", "x"], '"x" is no [HOST:]PORT'],
    [[path("../examples/tone.js"), "--http", "0", "--grpc", "0"], "--http or --grpc"],
  ]) {
    const told = run(...args);
    assert.equal(told.status, 2, told.stderr);
    assert.ok(told.stderr.includes(part), told.stderr);
  }
});
