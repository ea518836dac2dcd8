// A review in a page: who sits there and what is drawn. Everything else is the session's.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Fault } from "./api";
import type { Refusal } from "./outbox";
import type { Kind } from "./review";
import { ReviewSession, type Source, whileThere } from "./review-session";
import { loginNeeded, me, say } from "./store";

/** How soon what could not be sent is sent again, milliseconds. */
const AGAIN = 5_000;

/** What of an answer a page needs to show that it was refused. */
export interface Answered {
  item: string;
  kind: Kind;
}

/** Answers are the token's that sends them: those of another name wait for it. Without tokens all are of one name. */
function keyOf(key: string): string {
  return me.value?.needs_token ? `${key} ${me.value.name}` : key;
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
  /** Own answers that the server will never take. */
  refused: readonly Refusal<Answered>[];
  discard: (refusal: Refusal<Answered>) => void;
  times: readonly number[];
  change: (change: Partial<D>) => void;
  walk: (by: number) => void;
  commit: (kind: Kind) => void;
  undo: () => void;
  retry: () => void;
}

export function useReviewing<I extends { item: string }, D, G extends { items: I[] }, S extends Answered, T>(
  source: Source<I, D, G, S, T>, who: string, decides: boolean,
): Reviewing<I, D, G, T> {
  const [, draw] = useState(0);
  const session = useMemo(() => new ReviewSession<I, D, G, S, T>({
    kept: sessionStorage, redraw: () => draw((n) => n + 1), say, later: (run) => setTimeout(run, AGAIN),
  }), []);
  const key = keyOf(source.key);
  // Somebody else may have logged in since the answer was given, also in front of another page.
  const post = whileThere(source.post, () => !loginNeeded.value && keyOf(source.key) === key);
  // Until it is known who looks, nobody sits there.
  const isKnown = me.value !== undefined;
  useEffect(() => {
    if (isKnown) void session.sit({ ...source, key, post }, who, decides);
  }, [key, who, decides, isKnown]);
  useEffect(() => () => session.leave(), []);
  const { given, fault, busy, item, place, draft, told, unsent, refused, times } = session;
  return {
    given, fault, busy, item, place, draft: draft ?? source.empty, told, unsent, refused, times,
    change: (change) => session.change(change), walk: (by) => session.walk(by), commit: (kind) => session.commit(kind),
    undo: () => session.undo(), retry: () => void session.sync(),
    discard: (refusal) => session.discard(refusal as Refusal<S>),
  };
}
