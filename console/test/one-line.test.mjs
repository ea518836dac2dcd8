import assert from "node:assert/strict";
import { test } from "node:test";
import { EditorState } from "@codemirror/state";
import { load } from "./load.mjs";

const { joined, oneLine } = await load("src/editor/one-line.ts");

test("what is pasted with several lines becomes one, and what is typed after it stays", () => {
  const filter = EditorState.transactionFilter.of((tr) => (tr.newDoc.lines > 1 ? [tr, { changes: joined(tr.newDoc), sequential: true }] : tr));
  const start = EditorState.create({ doc: oneLine("a = 1\r\nAND b"), extensions: filter });
  assert.equal(start.doc.toString(), "a = 1 AND b");
  const pasted = start.update({ changes: { from: start.doc.length, insert: " = 2\nAND\nc = 3" } }).state;
  assert.equal(pasted.doc.toString(), "a = 1 AND b = 2 AND c = 3");
  assert.equal(pasted.update({ changes: { from: pasted.doc.length, insert: "0" } }).state.doc.toString(), "a = 1 AND b = 2 AND c = 30");
});
