// The state of somebody who reviews: asks for items ahead, sends answers at once, keeps what could not be sent. What is asked
// and how it is sent is its source's: the items of a metric, or of a queue.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Fault } from "./api";
import { Outbox } from "./outbox";
import { type Kind, dealt, walked } from "./review";
import { say } from "./store";

/** The item at hand and the next three. */
const AHEAD = 4;
/** How soon what could not be sent is sent again, milliseconds. */
const AGAIN = 5_000;

interface Named {
  item: string;
}

/** Where items come from and answers go: I an item, D the draft of an answer, G what is given, S what is sent, T what is told. */
export interface Source<I extends Named, D, G extends { items: I[] }, S extends Named, T> {
  /** Its name, under which answers are kept in the tab. */
  key: string;
  empty: D;
  load: (who: string, decides: boolean, count: number) => Promise<G>;
  post: (sent: S) => Promise<{ items?: T[] } | null>;
  answer: (item: I, kind: Kind, draft: D, who: string, seconds: number) => S;
  /** The draft of an answer that was taken back. */
  again: (draft: D) => D;
  /** What is still missing, for a person. */
  lacks: (item: I, draft: D) => string;
}

export interface Reviewing<I, D, G, T> {
  given: G | undefined;
  fault: Fault | undefined;
  busy: boolean;
  item: I | undefined;
  place: string;
  draft: D;
  /** The last answer, as the server knows it. */
  told: T | undefined;
  unsent: number;
  times: readonly number[];
  change: (change: Partial<D>) => void;
  walk: (by: number) => void;
  commit: (kind: Kind) => void;
  undo: () => void;
  retry: () => void;
}

interface Data<I, D, G, T> {
  deck: I[];
  at: number;
  drafts: Map<string, D>;
  /** Answered items; those of an earlier visit, of which only the name is known, are undefined. */
  done: Map<string, I | undefined>;
  since: number;
  given?: G;
  fault?: Fault;
  told?: T;
  busy: boolean;
  times: number[];
  /** Whether somebody sends and asks, and whether there is more to send since. */
  syncing: boolean;
  again: boolean;
}

export function useReviewing<I extends Named, D, G extends { items: I[] }, S extends Named, T>(
  source: Source<I, D, G, S, T>, who: string, decides: boolean,
): Reviewing<I, D, G, T> {
  const [, draw] = useState(0);
  const data = useRef<Data<I, D, G, T>>({ deck: [], at: 0, drafts: new Map(), done: new Map(), since: Date.now(), busy: true, times: [], syncing: false, again: false }).current;
  const outbox = useMemo(() => new Outbox<S, T>(sessionStorage, `groundline.review.${source.key}`, source.post), [source.key]);
  const redraw = () => draw((n) => n + 1);
  const latest = useRef({ source, who, decides, outbox });
  latest.current = { source, who, decides, outbox };
  // Sends what waits; then there is room for more items. One at a time: items that were asked for before an answer was there
  // would stand beside those that came after it.
  const sync = async (): Promise<void> => {
    data.again = true;
    if (data.syncing) return;
    data.syncing = true;
    while (data.again) {
      data.again = false;
      const now = latest.current;
      const { told, refused, fault } = await now.outbox.flush();
      const last = told.at(-1);
      if (last) data.told = last;
      for (const why of refused) say(why);
      if (fault) setTimeout(() => void sync(), AGAIN);
      redraw();
      if (data.deck.length < AHEAD) await load(data, now.source, now.who, now.decides, () => latest.current.who === now.who && latest.current.source.key === now.source.key);
    }
    data.syncing = false;
    redraw();
  };
  useEffect(() => {
    for (const { item } of outbox.waiting) data.done.set(item, undefined);
    data.deck = [];
    void sync();
  }, [source.key, who, decides]);
  const sent = () => {
    redraw();
    void sync();
  };
  const act = actions(data, source, who, outbox, redraw, sent);
  const item = data.deck[data.at];
  return {
    given: data.given, fault: data.fault, busy: data.busy, item, told: data.told, times: data.times, unsent: outbox.waiting.length,
    draft: (item && data.drafts.get(item.item)) ?? source.empty, place: `${data.at + 1} of ${data.deck.length} at hand`,
    ...act, retry: () => void sync(),
  };
}

async function load<I extends Named, D, G extends { items: I[] }, S extends Named, T>(
  data: Data<I, D, G, T>, source: Source<I, D, G, S, T>, who: string, decides: boolean, isWanted: () => boolean,
): Promise<void> {
  data.busy = true;
  try {
    const given = await source.load(who, decides, AHEAD);
    if (!isWanted()) return;
    data.given = given;
    delete data.fault;
    if (data.deck.length === 0) data.since = Date.now();
    data.deck = dealt(data.deck, given.items, new Set(data.done.keys()));
    data.at = walked(data.at, 0, data.deck.length);
  } catch (error) {
    data.fault = error instanceof Fault ? error : new Fault("server", String(error));
  }
  data.busy = false;
}

type Acts<D> = Pick<Reviewing<unknown, D, unknown, unknown>, "change" | "walk" | "commit" | "undo">;

function actions<I extends Named, D, G extends { items: I[] }, S extends Named, T>(
  data: Data<I, D, G, T>, source: Source<I, D, G, S, T>, who: string, outbox: Outbox<S, T>, redraw: () => void, sent: () => void,
): Acts<D> {
  const here = () => data.deck[data.at];
  const draftOf = (item: I) => data.drafts.get(item.item) ?? source.empty;
  const change = (change: Partial<D>) => {
    const item = here();
    if (!item) return;
    data.drafts.set(item.item, { ...draftOf(item), ...change });
    redraw();
  };
  const walk = (by: number) => {
    data.at = walked(data.at, by, data.deck.length);
    data.since = Date.now();
    redraw();
  };
  const commit = (kind: Kind) => {
    const item = here();
    if (!item) return;
    const draft = draftOf(item);
    const lacks = kind === "answer" ? source.lacks(item, draft) : "";
    if (lacks !== "") return say(lacks);
    outbox.add(source.answer(item, kind, draft, who, Math.round((Date.now() - data.since) / 100) / 10));
    data.done.set(item.item, item);
    data.deck = data.deck.filter((other) => other.item !== item.item);
    data.at = walked(data.at, 0, data.deck.length);
    data.since = Date.now();
    data.times.push(data.since);
    sent();
  };
  const undo = () => {
    const last = [...data.done.values()].at(-1);
    if (!last) return say("There is nothing to take back");
    data.done.delete(last.item);
    data.drafts.set(last.item, source.again(draftOf(last)));
    data.times.pop();
    if (!outbox.takeBack(last.item)) outbox.add(source.answer(last, "undo", source.empty, who, 0));
    data.deck = [last, ...data.deck.filter((other) => other.item !== last.item)];
    data.at = 0;
    data.since = Date.now();
    say("Taken back");
    sent();
  };
  return { change, walk, commit, undo };
}
