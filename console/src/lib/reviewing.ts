// A review in a page: who sits there and what is drawn. Everything else is the session's.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Fault } from "./api";
import type { Kind } from "./review";
import { ReviewSession, type Source } from "./review-session";
import { me, say } from "./store";

/** How soon what could not be sent is sent again, milliseconds. */
const AGAIN = 5_000;

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

export function useReviewing<I extends { item: string }, D, G extends { items: I[] }, S extends { item: string; kind: Kind }, T>(
  source: Source<I, D, G, S, T>, who: string, decides: boolean,
): Reviewing<I, D, G, T> {
  const [, draw] = useState(0);
  const session = useMemo(() => new ReviewSession<I, D, G, S, T>({
    kept: sessionStorage, redraw: () => draw((n) => n + 1), say, later: (run) => setTimeout(run, AGAIN),
  }), []);
  // Where there are tokens an answer is the token's that sends it: it waits for the one that gave it.
  const key = me.value?.needs_token ? `${source.key} ${me.value.name}` : source.key;
  useEffect(() => void session.sit({ ...source, key }, who, decides), [key, who, decides]);
  const { given, fault, busy, item, place, draft, told, unsent, times } = session;
  return {
    given, fault, busy, item, place, draft: draft ?? source.empty, told, unsent, times,
    change: (change) => session.change(change), walk: (by) => session.walk(by), commit: (kind) => session.commit(kind),
    undo: () => session.undo(), retry: () => void session.sync(),
  };
}
