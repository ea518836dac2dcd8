import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { evidenceOf, marked, supportIn, unsupportedOf, utf16 } = await load("src/lib/evidence.ts");
const { judgedOf } = await load("src/lib/judged.ts");

const bytes = (text) => Buffer.byteLength(text);
/** The range in bytes of a part, as the server tells it. */
const rangeOf = (text, part) => {
  const start = bytes(text.slice(0, text.indexOf(part)));
  return [start, start + bytes(part)];
};
const claims = (text, marks) => marked(text, marks).filter((piece) => piece.marked).map((piece) => piece.text);

test("bytes of UTF-8 become units of UTF-16, for characters of one to four bytes", () => {
  const text = "Grüße 日本 🧾🧾 ok";
  for (const part of ["Gr", "üß", "e ", "日本", "🧾", "🧾🧾 ", " ok", text]) {
    const [from, to] = utf16(text, rangeOf(text, part));
    assert.equal(text.slice(from, to), part);
  }
  assert.equal(utf16(text, [3, 4]), undefined, "a border inside of ü");
  assert.equal(utf16(text, [0, 3]), undefined, "an end inside of ü");
  assert.equal(utf16(text, [15, 17]), undefined, "inside of a character of four bytes");
  assert.equal(utf16(text, [0, bytes(text) + 1]), undefined, "behind the end");
  assert.deepEqual(utf16("ab", [1, 2]), [1, 2]);
  assert.deepEqual(utf16("\ud83d!", [3, 4]), [1, 2], "half of a pair is three bytes when it is sent");
});

const answer = "Der Umtausch dauert 30 Tage. 送料は無料です。 Die Gebühr beträgt 25 % 🧾. Der Umtausch dauert 30 Tage.";
const document = "Öffnung: 9 Uhr. Umtausch binnen 14 Tagen – ohne Gebühr.";
const told = [
  { answer: rangeOf(answer, "送料は無料です。"), document: 1, context: rangeOf(document, "Umtausch binnen 14 Tagen – ohne Gebühr.") },
  { answer: rangeOf(answer, "Die Gebühr beträgt 25 % 🧾."), document: 1, context: rangeOf(document, "Öffnung: 9 Uhr.") },
];
const score = { evidence: JSON.stringify(told), rationale: 'The context contradicts "送料は無料です。". Best evidence, in document 2 (b): "Umtausch binnen 14 Tagen".' };
const spans = [
  { span_id: "r", operation: "retrieval", start_time: "2026-11-21T09:00:00.1Z", duration_ns: 5, documents: JSON.stringify([{ id: "a", content: "x" }, { id: "b", content: document }, { id: "c", content: "x" }]) },
  { span_id: "l", operation: "llm", status_code: "ok", start_time: "2026-11-21T09:00:00.2Z", duration_ns: 5, answer },
];

test("several sentences are marked where they stand, each with what the document says", () => {
  const evidence = evidenceOf(score, judgedOf(spans, "l"));
  assert.deepEqual(claims(answer, evidence.claims), ["送料は無料です。", "Die Gebühr beträgt 25 % 🧾."]);
  assert.equal(evidence.supports.length, 1);
  const found = supportIn(evidence, { id: "b", content: document }, 2);
  assert.deepEqual(claims(document, found), ["Öffnung: 9 Uhr.", "Umtausch binnen 14 Tagen – ohne Gebühr."]);
  assert.equal(supportIn(evidence, { id: "a", content: "x" }, 1), undefined);
  assert.equal(marked(answer, evidence.claims).map((piece) => piece.text).join(""), answer);
});

test("a place tells two equal sentences apart, which words could not", () => {
  const last = answer.lastIndexOf("Der Umtausch");
  const start = bytes(answer.slice(0, last));
  const evidence = evidenceOf({ evidence: JSON.stringify([{ answer: [start, bytes(answer)], document: 0, context: [0, 1] }]), rationale: null }, judgedOf(spans, "l"));
  const pieces = marked(answer, evidence.claims);
  assert.equal(pieces.length, 2);
  assert.deepEqual(pieces[1], { text: answer.slice(last), marked: true });
});

test("in the start of an answer the marks end with it, and in another text they are looked for", () => {
  const evidence = evidenceOf(score, judgedOf(spans, "l"));
  assert.deepEqual(claims(answer.slice(0, 34), evidence.claims), ["送料は無料"]);
  assert.deepEqual(claims("Kurz: Die Gebühr  beträgt\n25 % 🧾. Mehr nicht.", evidence.claims), ["Die Gebühr  beträgt\n25 % 🧾."]);
  const cut = evidenceOf(score, { answers: [answer.slice(0, 40)], documents: [] });
  assert.deepEqual(claims(answer.slice(0, 40), cut.claims), ["送料は無料です。"], "what lies behind the cut is left out");
  assert.deepEqual(cut.supports.map((each) => each.parts), [["Umtausch binnen 14 Tagen"]], "without documents the rationale's quote stays");
});

test("of several answers the one is taken that says at the place what the rationale quotes", () => {
  const [other, own] = ["A tool told something else, at length.", "Yes. It costs 90 euros."];
  const row = { evidence: JSON.stringify([{ answer: rangeOf(own, "It costs 90 euros."), document: 0, context: [0, 1] }]), rationale: 'The context does not say "It costs  90…". Best evidence, in document 1: "x".' };
  assert.deepEqual(evidenceOf(row, { answers: [other, own], documents: [] }).claims.parts, ["It costs 90 euros."]);
  assert.equal(evidenceOf({ ...row, rationale: null }, { answers: [other, own], documents: [] }).claims.text, other, "without words the likeliest");
});

test("rows without the column are read from their rationale", () => {
  const rationale = 'Least supported sentence: "You have 90 days, and a 25% fee." (entailed 0.06, contradicted 0.92). Best evidence, in document 1 (doc-returns): "Opened items may be returned within 14 days.". Numbers that are not in the context: 25, 90.';
  const evidence = evidenceOf({ evidence: null, rationale });
  assert.deepEqual(evidence.claims.parts, ["You have 90 days, and a 25% fee."]);
  assert.deepEqual(evidence.supports.map((each) => [each.document, each.documentId, each.parts]), [[1, "doc-returns", ["Opened items may be returned within 14 days."]]]);
  assert.equal(supportIn(evidence, { id: "doc-returns", content: "…" }, 7)?.document, 1);
  assert.equal(evidenceOf({ rationale: "3 personal values found" }), undefined);
  assert.equal(evidenceOf({ rationale: null }), undefined);
  assert.equal(evidenceOf({ rationale: 'Least grounded sentence: "He said "no" twice.". Nearest evidence, similarity 0.8, in document 2 (d): "x".' }).claims.parts[0], 'He said "no" twice.');
});

test("a column that is no evidence marks nothing", () => {
  for (const column of [null, "", "no json", "{}", "[null, 3]", '[{"answer":[5,2],"document":0,"context":[0,1]}]', '[{"answer":[0,1e99],"document":0,"context":[0,1]}]', '[{"answer":[0,1]}]']) {
    assert.deepEqual(unsupportedOf(column), [], column);
    assert.equal(evidenceOf({ evidence: column, rationale: null }, judgedOf(spans, "l")), undefined);
  }
});

test("words are marked where they stand, over line ends, and nowhere else", () => {
  const only = (part) => ({ text: "", ranges: [], parts: [part] });
  assert.deepEqual(marked("A. You have\n90 days (a+b). C.", only("You have 90 days (a+b).")), [
    { text: "A. ", marked: false }, { text: "You have\n90 days (a+b).", marked: true }, { text: " C.", marked: false },
  ]);
  assert.deepEqual(marked("text", only("other")), [{ text: "text", marked: false }]);
  assert.deepEqual(marked("text", only("")), [{ text: "text", marked: false }]);
  assert.deepEqual(claims("one two three", { text: "", ranges: [], parts: ["one two", "two three"] }), ["one two", " three"], "marks that overlap are one");
});

test("what a score is about is chosen as the server chooses it", () => {
  const at = (second, more) => ({ start_time: `2026-11-21T09:00:0${second}Z`, duration_ns: 1, status_code: "ok", ...more });
  const root = at(0, { span_id: "root", operation: "other", duration_ns: 9e9, answer: '{"text":"x"}' });
  const first = at(1, { span_id: "1", operation: "llm", answer: "first" });
  const tool = at(2, { span_id: "t", operation: "tool", answer: "22 °C" });
  const second = at(3, { span_id: "2", operation: "llm", answer: "second" });
  const failed = at(4, { span_id: "3", operation: "llm", status_code: "error", answer: "no" });
  assert.deepEqual(judgedOf([root, first, tool, second, failed], "root").answers[0], "second");
  assert.deepEqual(judgedOf([root, first, tool, second], "1").answers[0], "first");
  assert.deepEqual(judgedOf([root, first, tool, second], "2").documents, [{ id: "t", content: "22 °C" }]);
  assert.deepEqual(judgedOf([root, first, tool, second], "1").documents, [], "what came later was no ground");
  const [found, better] = ["retrieval", "reranker"].map((operation) => at(1, { span_id: operation, operation, documents: JSON.stringify([{ id: operation, content: operation }]) }));
  assert.deepEqual(judgedOf([root, found, better, second], "2").documents.map((doc) => doc.id), ["reranker"]);
  assert.deepEqual(judgedOf([root, { ...found, documents: undefined }, second], "2").documents, [], "unknown documents have no numbers");
});
