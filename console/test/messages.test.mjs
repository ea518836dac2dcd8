import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { merged, messagesOf, textOf } = await load("src/lib/messages.ts");

const say = (role, content) => ({ role, parts: [{ type: "text", content }] });
const texts = ({ turns }) => turns.map((turn) => `${turn.message.role[0]}:${textOf(turn.message)}@${turn.span}${turn.made ? "!" : ""}`);

test("calls that repeat their history show each message once, with the call that added it", () => {
  const [a, b, c, d] = [say("user", "hi"), say("assistant", "hello"), say("user", "name?"), say("assistant", "Sam")];
  const result = merged([
    { span: "1", system: "be kind", input: [say("system", "be kind"), a], output: [b] },
    { span: "2", system: "", input: [say("system", "be kind"), a, b, c], output: [d] },
  ]);
  assert.deepEqual(texts(result), ["u:hi@1", "a:hello@1!", "u:name?@2", "a:Sam@2!"]);
  assert.deepEqual(result.systems, ["be kind"]);
});

test("a history whose start was cut away is recognised", () => {
  const [a, b, c] = [say("user", "one"), say("assistant", "two"), say("user", "three")];
  const result = merged([
    { span: "1", system: "", input: [a], output: [b] },
    { span: "2", system: "", input: [b, c], output: [] },
  ]);
  assert.deepEqual(texts(result), ["u:one@1", "a:two@1!", "u:three@2"]);
});

test("the same words said twice by different calls stay", () => {
  const result = merged([
    { span: "1", system: "", input: [say("user", "q")], output: [say("assistant", "x")] },
    { span: "2", system: "", input: [say("user", "other")], output: [say("assistant", "x")] },
  ]);
  assert.equal(result.turns.length, 4);
});

test("an outer span that tells the same conversation again adds nothing", () => {
  const [a, b] = [say("user", "q"), say("assistant", "x")];
  const result = merged([{ span: "agent", system: "", input: [a], output: [b] }, { span: "llm", system: "", input: [a], output: [b] }]);
  assert.equal(result.turns.length, 2);
});

test("an agent that tells only question and answer leaves the telling to the calls inside", () => {
  const [q, call, tool, x] = [say("user", "q"), say("assistant", "call"), say("tool", "22"), say("assistant", "x")];
  const result = merged([
    { span: "agent", system: "", input: [q], output: [x] },
    { span: "1", system: "", input: [q], output: [call] },
    { span: "2", system: "", input: [q, call, tool], output: [x] },
    { span: "out", system: "", input: [], output: [x] },
  ]);
  assert.deepEqual(texts(result), ["u:q@1", "a:call@1!", "t:22@2", "a:x@2!"]);
});

test("columns that are no messages give none, and odd parts are kept", () => {
  for (const column of [null, "", "no json", "{}", "5", "[null, 3]"]) assert.deepEqual(messagesOf(column), []);
  assert.deepEqual(messagesOf('[{"role":"user","content":"hi"}]')[0].parts, [{ type: "text", content: "hi" }]);
  assert.equal(messagesOf('[{"parts":[{"kind":"x"},null,"t"]}]')[0].parts.length, 2);
});
