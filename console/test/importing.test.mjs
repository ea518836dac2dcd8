import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { bodyOf, importPath, outcomeText, placeOf, stemOf } = await load("src/lib/importing.ts");

test("a look stores nothing and counts good items beside faults, and what is taken says how", () => {
  const options = { map: "", replaces: false, keepsDuplicates: false };
  assert.equal(importPath("a/b", "x.csv", options, true, true), "/v1/lab/datasets/a%2Fb/import?file=x.csv&create=true&dry_run=true&partial=true");
  const all = importPath("d", "x.csv", { map: " input=q ", replaces: true, keepsDuplicates: true }, false, false, "t");
  assert.equal(all, "/v1/lab/datasets/d/import?file=x.csv&create=true&map=input%3Dq&replace=true&keep_duplicates=true&tenant=t");
});

test("what would happen and where a fault stands are told in words", () => {
  const none = { version: 1, items: 0, put: 0, deleted: 0, unchanged: 0, duplicates: 0, archived: 0, faults: [] };
  assert.equal(outcomeText(none), "0 to be put");
  assert.equal(outcomeText({ ...none, put: 1200, unchanged: 2, duplicates: 1 }), "1,200 to be put, 2 as they are, 1 twice in the file");
  assert.deepEqual([placeOf({ line: 3, column: "input", message: "" }), placeOf({ item: 2, message: "" }), placeOf({ message: "" })], ["line 3, input", "item 2", "the file"]);
  assert.deepEqual([stemOf("C:\\data\\refunds v2.csv"), stemOf("part.0.jsonl"), stemOf(".csv")], ["refunds v2", "part.0", "dataset"]);
});

test("a file goes as text, and an archive as base64", async () => {
  assert.deepEqual(await bodyOf(new Blob(["a,b\n"]), "x.csv"), { file_text: "a,b\n" });
  const bytes = Uint8Array.from({ length: 100_000 }, (_, at) => at % 256);
  const sent = await bodyOf(new Blob([bytes]), "x.ZIP");
  assert.deepEqual(Buffer.from(sent.file_base64, "base64"), Buffer.from(bytes));
});
