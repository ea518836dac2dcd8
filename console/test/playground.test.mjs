import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { experimentOf, itemOfSpan, pathsOf, places, promptFault, trialOf, variantOf, variantsOf, variantsText } = await load("src/lib/playground.ts");

test("columns come back from an address, whatever stands in it", () => {
  const all = [{ target: "a", prompt: "{{input}}", parameters: '{"temperature":0}' }, { target: "b", system: "" }];
  assert.deepEqual(variantsOf(variantsText(all)), all);
  assert.deepEqual(variantsOf('[{"target":"a","prompt":3,"more":1},null,"x",4,5]'), [{ target: "a" }, { target: "" }, { target: "" }, { target: "" }]);
  for (const wrong of ["", "{", "{}", "null", "3"]) assert.deepEqual(variantsOf(wrong), []);
});

test("a place that leads nowhere is told before anybody is asked", () => {
  assert.deepEqual(places("{{ input.a }} and {{input}}"), ["input.a", "input"]);
  assert.equal(places("{{input"), undefined);
  const items = [{ input: { question: "Where?", list: ["x"] } }, { input: "plain" }];
  const fault = (prompt, parameters) => promptFault({ target: "t", prompt, ...(parameters === undefined ? {} : { parameters }) }, items);
  assert.equal(fault("{{input}} {{parameters.style}}"), "");
  assert.equal(fault("{{input.question}}"), "item 2 has no {{input.question}}");
  assert.equal(promptFault({ target: "t", prompt: "{{input.list.0}}" }, items.slice(0, 1)), "");
  assert.equal(fault("{{contexts}}"), "item 1 has no {{contexts}}");
  assert.match(fault("{{input.constructor}}"), /item 1 has no/);
  assert.match(fault("{{expected}}"), /is no place/);
  assert.match(fault("{{input"), /not closed/);
  for (const wrong of ["{", "[]", "3", "null"]) assert.match(fault("", wrong), /no JSON object/);
  assert.deepEqual(pathsOf(items[0]), ["input", "input.question", "input.list"]);
  assert.deepEqual(pathsOf(undefined), ["input"]);
});

test("what is sent has what an item says, and the prompts only where they are not the target's own", () => {
  const item = { item_id: "i", content_hash: "h", ordinal: 3, input: "a", expected: "b", tags: ["t"], contexts: [] };
  const sent = trialOf({ target: "m", prompt: "", parameters: '{"n":1}' }, [item], ["rouge"]);
  assert.deepEqual(sent, { target: "m", prompt: "", parameters: { n: 1 }, evaluators: ["rouge"], items: [{ input: "a", expected: "b", contexts: [] }] });
  const made = experimentOf("x", "d@2", { target: "m", system: "s" }, []);
  assert.deepEqual(made, { name: "x", dataset: "d@2", evaluators: [], parameters: {}, tags: ["playground"], target: { kind: "named", name: "m", system: "s" } });
  assert.deepEqual(variantOf(made.target, { n: 1 }), { target: "m", system: "s", parameters: '{"n":1}' });
  assert.deepEqual(variantOf({ name: "m" }, null), { target: "m" });
});

test("a span becomes an item with its messages and what its trace had retrieved", () => {
  const part = (content) => [{ type: "text", content }];
  const messages = JSON.stringify([{ role: "user", parts: part("Hi") }, { role: "assistant", parts: part("Yes?") }, { role: "user", parts: part("Where?") }]);
  const documents = JSON.stringify([{ id: "d1", content: "text", score: 1 }, { id: "d2" }]);
  const rows = [{ span_id: "r", operation: "retrieval", documents }, { span_id: "s", operation: "llm", question: "Where?", system_prompt: "Be kind.", input_messages: messages, documents: null }];
  const item = itemOfSpan(rows, "t", "s");
  assert.deepEqual(item.input.messages.map(({ role }) => role), ["system", "user", "assistant", "user"]);
  assert.deepEqual([item.input.question, item.contexts, item.source_trace_id, item.source_span_id], ["Where?", [{ id: "d1", text: "text" }], "t", "s"]);
  assert.equal(itemOfSpan([{ span_id: "s", operation: "llm", question: "Plain?", input_messages: null, documents: null }], "t", "s").input, "Plain?");
  assert.equal(itemOfSpan(rows, "t", "other"), undefined);
  assert.equal(itemOfSpan([{ span_id: "s", operation: "tool", question: null, input_messages: null }], "t", "s"), undefined);
});
