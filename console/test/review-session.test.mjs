import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { ReviewSession, whileThere } = await load("src/lib/review-session.ts");

function storage() {
  const kept = new Map();
  return { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value) };
}

/** A queue of three items that everybody answers once. `loses` has the answer taken, and never told; `refuses` takes none. */
function queue() {
  const taken = [];
  const is = { taken, loses: false, refuses: 0, sent: [] };
  const holds = (who, item) => taken.filter((one) => one.by === who && one.item === item).reduce((hold, one) => one.kind !== "undo", false);
  const post = async (sent) => {
    is.sent.push(`${sent.by} ${sent.kind} ${sent.item}`);
    if (is.refuses) throw new Fault("server", "no", is.refuses);
    if (!taken.some((one) => one.id === sent.id)) taken.push(sent);
    if (is.loses) await new Promise(() => {});
    return { items: [`told of ${sent.item}`] };
  };
  const give = async (who) => ({ items: ["a", "b", "c"].filter((item) => !holds(who, item)).map((item) => ({ item })) });
  const answer = (item, kind, draft, by) => ({ id: Math.random(), item: item.item, kind, said: draft.said, by });
  is.source = { key: "q", empty: { said: "" }, load: give, post, answer, by: (sent) => sent.by, again: (draft) => draft, lacks: (_, draft) => (draft.said ? "" : "Say something") };
  return is;
}

/** What the tab has kept, after the page was loaded again. */
const reloaded = (kept) => ({ ...kept });

function page(kept) {
  const heard = [];
  const waiting = [];
  const session = new ReviewSession({ kept, redraw: () => {}, say: (text) => heard.push(text), later: (run) => waiting.push(run) });
  return Object.assign(session, { heard, waiting });
}

/** The bundle's own class of faults: what it makes of any error. */
const Fault = await (async () => {
  const session = page(storage());
  await session.sit({ ...queue().source, load: () => Promise.reject(new Error("no")) }, "ana", false);
  return session.fault.constructor;
})();

/** Until nothing more happens by itself. */
const quiet = () => new Promise((resolve) => setImmediate(resolve));

async function answers(session, said = "yes") {
  session.change({ said });
  session.commit("answer");
  await quiet();
}

test("an answer that is still under way hides its item from nobody who sits down behind its reader", async () => {
  const [is, kept] = [queue(), storage()];
  const ana = page(kept);
  await ana.sit(is.source, "ana", false);
  is.loses = true;
  await answers(ana);
  assert.equal(is.taken.length, 1, "the server has it, the tab does not know");
  is.loses = false;
  const ben = page(reloaded(kept));
  await ben.sit(is.source, "ben", false);
  assert.deepEqual([ben.item.item, ben.place, ben.unsent], ["a", "1 of 3 at hand", 0]);
  assert.deepEqual(is.sent, ["ana answer a", "ana answer a"], "ana's is sent again, under her name and id");
  assert.equal(is.taken.length, 1);
  assert.equal(ben.told, undefined, "what is told of it is told to ana alone");
  const again = page(reloaded(kept));
  await again.sit(is.source, "ana", false);
  assert.deepEqual([again.item.item, again.place], ["b", "1 of 2 at hand"]);
});

test("who sits down in the same page gets what the last one answered, and sees none of the answers", async () => {
  const is = queue();
  const session = page(storage());
  await session.sit(is.source, "ana", false);
  for (let n = 0; n < 3; n++) await answers(session);
  assert.deepEqual([session.item, session.busy, session.told, session.times.length], [undefined, false, "told of c", 3]);
  await session.sit(is.source, "ben", false);
  assert.deepEqual([session.item.item, session.place, session.draft, session.told, session.times.length], ["a", "1 of 3 at hand", undefined, undefined, 0]);
  session.undo();
  assert.equal(session.heard.at(-1), "There is nothing to take back");
});

test("that nothing is to do is known once the last answer is there and nothing was given since", async () => {
  const is = queue();
  const session = page(storage());
  assert.equal(session.busy, true);
  await session.sit(is.source, "ana", false);
  for (let n = 0; n < 2; n++) await answers(session);
  is.loses = true;
  await answers(session);
  assert.deepEqual([session.item, session.busy, session.told, session.unsent], [undefined, true, "told of b", 1]);
});

test("an item whose answer is refused comes again with what was said", async () => {
  const is = queue();
  const session = page(storage());
  await session.sit(is.source, "ana", false);
  is.refuses = 400;
  await answers(session, "seven");
  assert.deepEqual([session.heard, session.place], [["no"], "1 of 3 at hand"]);
  session.walk(2);
  assert.deepEqual([session.item.item, session.draft], ["a", { said: "seven" }]);
});

test("what may be there already is taken back at the server, before and after a reload", async () => {
  const [is, kept] = [queue(), storage()];
  const session = page(kept);
  await session.sit(is.source, "ana", false);
  is.refuses = 503;
  await answers(session);
  session.undo();
  await quiet();
  assert.deepEqual([session.item.item, session.unsent], ["a", 2]);
  const again = page(reloaded(kept));
  is.refuses = 0;
  await again.sit(is.source, "ana", false);
  assert.deepEqual(is.taken.map(({ kind }) => kind), ["answer", "undo"]);
  assert.deepEqual([again.item.item, again.place], ["a", "1 of 3 at hand"]);
});

test("what was given before the seat changed is dealt to nobody", async () => {
  const is = queue();
  const session = page(storage());
  let give;
  const slow = { ...is.source, load: () => new Promise((resolve) => (give = resolve)) };
  const first = session.sit(slow, "ana", false);
  await quiet();
  const giveOpen = give;
  void session.sit(slow, "ana", true);
  giveOpen({ items: [{ item: "open" }] });
  await quiet();
  assert.deepEqual([session.item, session.busy], [undefined, true]);
  give({ items: [{ item: "differs" }] });
  await first;
  assert.equal(session.item.item, "differs");
});

test("what is refused for good is said, kept for its reader alone, and sent no more", async () => {
  for (const status of [403, 404, 409, 422]) {
    const [is, kept] = [queue(), storage()];
    const session = page(kept);
    await session.sit(is.source, "ana", false);
    is.refuses = status;
    await answers(session, "seven");
    assert.deepEqual([session.heard, session.waiting.length, session.unsent], [["no"], 0, 0], `status ${status}`);
    const again = page(reloaded(kept));
    await again.sit(is.source, "ben", false);
    assert.deepEqual([again.refused, is.sent.length], [[], 1], "another reader is shown none");
    await again.sit(is.source, "ana", false);
    assert.deepEqual(again.refused.map(({ sent, why }) => [sent.said, why]), [["seven", "no"]]);
    again.discard(again.refused[0]);
    assert.deepEqual(again.refused, []);
    const third = page(reloaded(kept));
    await third.sit(is.source, "ana", false);
    assert.deepEqual([third.refused, is.sent.length], [[], 1], "and it is not sent by anybody");
  }
});

test("without a login an answer waits, and is sent once somebody sits down after it", async () => {
  const [is, kept] = [queue(), storage()];
  const session = page(kept);
  await session.sit(is.source, "ana", false);
  is.refuses = 401;
  await answers(session);
  assert.deepEqual([session.unsent, session.waiting.length, session.refused], [1, 0, []]);
  is.refuses = 0;
  const after = page(kept);
  await after.sit(is.source, "ana", false);
  assert.deepEqual([after.unsent, is.taken.length, after.item.item], [0, 1, "b"]);
});

test("two sessions of one queue in a tab send each answer once, and keep all of them", async () => {
  const [is, kept] = [queue(), storage()];
  const gates = [];
  const slow = { ...is.source, post: async (sent) => (await new Promise((go) => gates.push(go)), is.source.post(sent)) };
  const [left, here] = [page(kept), page(kept)];
  await left.sit(slow, "ana", false);
  await answers(left);
  left.leave();
  void here.sit(slow, "ana", false);
  await quiet();
  assert.deepEqual([here.unsent, gates.length], [1, 1], "it is on its way already");
  gates[0]();
  await quiet();
  await answers(here);
  assert.deepEqual([here.item.item, left.unsent], ["c", 1]);
  const later = page(reloaded(kept));
  void later.sit({ ...slow, post: () => new Promise(() => {}) }, "ana", false);
  assert.equal(later.unsent, 1, "what the first has sent did not overwrite what the second keeps");
  gates[1]();
  await quiet();
  assert.deepEqual([is.sent, here.unsent, left.unsent], [["ana answer a", "ana answer b"], 0, 0]);
});

test("who has left the page asks for no more items, and what waits is still sent", async () => {
  const is = queue();
  let asked = 0;
  const counted = { ...is.source, load: (who) => ((asked += 1), is.source.load(who)) };
  const session = page(storage());
  await session.sit(counted, "ana", false);
  is.refuses = 503;
  await answers(session);
  session.leave();
  const before = asked;
  is.refuses = 0;
  session.waiting[0]();
  await quiet();
  assert.deepEqual([is.taken.length, session.unsent, asked], [1, 0, before]);
});

test("what one could not send does not go out under the name of who logs in next", async () => {
  const [is, kept] = [queue(), storage()];
  let isThere = true;
  const session = page(kept);
  await session.sit({ ...is.source, post: whileThere(is.source.post, () => isThere) }, "ana", false);
  is.refuses = 503;
  await answers(session);
  session.leave();
  [isThere, is.refuses] = [false, 0];
  session.waiting[0]();
  await quiet();
  assert.deepEqual([is.sent.length, session.unsent, session.waiting.length], [1, 1, 1], "it waits, and nobody tries again by himself");
});
