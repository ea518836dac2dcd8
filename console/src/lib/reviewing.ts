// The state of somebody who labels: asks for items ahead, sends answers at once, keeps what could not be sent.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Fault, getJson, postJson } from "./api";
import { Outbox } from "./outbox";
import { type Draft, EMPTY, type Given, type Item, type Kind, type Told, answerOf, dealt, walked } from "./review";
import { say } from "./store";

/** The item at hand and the next three. */
const AHEAD = 4;
/** How soon what could not be sent is sent again, milliseconds. */
const AGAIN = 5_000;

export interface Reviewing {
  given: Given | undefined;
  fault: Fault | undefined;
  busy: boolean;
  item: Item | undefined;
  place: string;
  draft: Draft;
  /** The last answer, as the server knows it. */
  told: Told | undefined;
  unsent: number;
  times: readonly number[];
  change: (change: Partial<Draft>) => void;
  walk: (by: number) => void;
  commit: (kind: Kind) => void;
  undo: () => void;
  retry: () => void;
}

interface Data {
  deck: Item[];
  at: number;
  drafts: Map<string, Draft>;
  done: Map<string, Item>;
  since: number;
  given?: Given;
  fault?: Fault;
  told?: Told;
  busy: boolean;
  times: number[];
}

export function useReviewing(metric: string, who: string, decides: boolean): Reviewing {
  const [, draw] = useState(0);
  const data = useRef<Data>({ deck: [], at: 0, drafts: new Map(), done: new Map(), since: Date.now(), busy: true, times: [] }).current;
  const outbox = useMemo(() => new Outbox(sessionStorage, `groundline.review.${metric}`, (sent) => postJson("/v1/annotations", sent)), [metric]);
  const redraw = () => draw((n) => n + 1);
  // Sends what waits; then there is room for more items.
  const sync = async (): Promise<void> => {
    const { told, refused, fault } = await outbox.flush();
    const last = told.at(-1);
    if (last) data.told = last;
    for (const why of refused) say(why);
    if (fault) setTimeout(() => void sync(), AGAIN);
    if (data.deck.length < AHEAD) await load(data, metric, who, decides);
    redraw();
  };
  useEffect(() => {
    for (const { item } of outbox.waiting) data.done.set(item, { item } as Item);
    data.deck = [];
    void sync();
  }, [metric, who, decides]);
  const sent = () => {
    redraw();
    void sync();
  };
  const act = actions(data, metric, who, outbox, redraw, sent);
  const item = data.deck[data.at];
  return {
    given: data.given, fault: data.fault, busy: data.busy, item, told: data.told, times: data.times, unsent: outbox.waiting.length,
    draft: (item && data.drafts.get(item.item)) ?? EMPTY, place: `${data.at + 1} of ${data.deck.length} at hand`,
    ...act, retry: () => void sync(),
  };
}

async function load(data: Data, metric: string, who: string, decides: boolean): Promise<void> {
  const reviewer = who ? `&reviewer=${encodeURIComponent(who)}` : "";
  const path = `/v1/labels/next?metric=${encodeURIComponent(metric)}&count=${AHEAD}&adjudicate=${decides}${reviewer}`;
  data.busy = true;
  try {
    data.given = await getJson<Given>(path);
    delete data.fault;
    if (data.deck.length === 0) data.since = Date.now();
    data.deck = dealt(data.deck, data.given.items, new Set(data.done.keys()));
    data.at = walked(data.at, 0, data.deck.length);
  } catch (error) {
    data.fault = error instanceof Fault ? error : new Fault("server", String(error));
  }
  data.busy = false;
}

type Acts = Pick<Reviewing, "change" | "walk" | "commit" | "undo">;

function actions(data: Data, metric: string, who: string, outbox: Outbox, redraw: () => void, sent: () => void): Acts {
  const here = () => data.deck[data.at];
  const change = (change: Partial<Draft>) => {
    const item = here();
    if (!item) return;
    data.drafts.set(item.item, { ...(data.drafts.get(item.item) ?? EMPTY), ...change });
    redraw();
  };
  const walk = (by: number) => {
    data.at = walked(data.at, by, data.deck.length);
    data.since = Date.now();
    redraw();
  };
  const commit = (kind: Kind) => {
    const item = here();
    const draft = (item && data.drafts.get(item.item)) ?? EMPTY;
    if (!item) return;
    if (kind === "answer" && draft.label === "") return say("Choose first: 1 or 2");
    outbox.add(answerOf(item, kind, draft, who, Math.round((Date.now() - data.since) / 100) / 10));
    data.done.set(item.item, item);
    data.deck = data.deck.filter((other) => other.item !== item.item);
    data.at = walked(data.at, 0, data.deck.length);
    data.since = Date.now();
    data.times.push(data.since);
    sent();
  };
  const undo = () => {
    const last = [...data.done.values()].at(-1);
    if (!last?.content) return say("There is nothing to take back");
    data.done.delete(last.item);
    data.times.pop();
    if (!outbox.takeBack(last.item)) outbox.add(answerOf({ ...last, metric }, "undo", EMPTY, who, 0));
    data.deck = [last, ...data.deck.filter((other) => other.item !== last.item)];
    data.at = 0;
    data.since = Date.now();
    say("Taken back");
    sent();
  };
  return { change, walk, commit, undo };
}
