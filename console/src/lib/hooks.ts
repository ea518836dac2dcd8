// Asking the server from a component: the old answer stays while a new one is under way, leaving cancels it.
import { useEffect, useRef, useState } from "preact/hooks";
import { Fault, type Table, ask, getJson } from "./api";
import { type Known, answered, asking, isAnswer, questionOf, refused } from "./asked";
import { labPath } from "./lab";
import { type Listed, type ListPage, allOf } from "./several";
import { now, range, tenant } from "./store";
import type { Bound } from "./statement";

export interface Asked<T> {
  data: T | undefined;
  fault: Fault | undefined;
  /** A request is under way. */
  busy: boolean;
  /** Whether the data answer what is asked now, and not what was asked before. */
  answers: boolean;
  retry: () => void;
}

/** Runs `load` whenever `key` changes; null asks nothing. Keys of one question ask the same at other times. */
export function useLoad<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>, question = key ?? ""): Asked<T> {
  const [state, setState] = useState<Known<T>>({ busy: key !== null });
  const [again, setAgain] = useState(0);
  const own = tenant.value;
  useEffect(() => {
    if (key === null) {
      setState({ busy: false });
      return undefined;
    }
    const abort = new AbortController();
    setState((old) => asking(old, own));
    load(abort.signal).then(
      (data) => !abort.signal.aborted && setState(answered(data, question, own)),
      (error: unknown) => {
        if (abort.signal.aborted) return;
        const fault = error instanceof Fault ? error : new Fault("server", String(error));
        setState((old) => refused(old, question, fault));
      },
    );
    return () => abort.abort();
  }, [key, again, own]);
  return { data: state.data, fault: state.fault, busy: state.busy, answers: isAnswer(state, question), retry: () => setAgain((n) => n + 1) };
}

/** Asks again when the statement changes, and when the reader asks for the present. */
export function useAsk(bound: Bound | null): Asked<Table> {
  const key = bound && JSON.stringify([bound.query, bound.params, now.value]);
  const question = bound === null ? "" : questionOf(bound.query, bound.params, range.value.relative);
  return useLoad(key, (signal) => ask(bound as Bound, signal), question);
}

/** The same without the fault of a wrong query, where a panel beside it tells that already. */
export function withoutWrong<T>(asked: Asked<T>): Asked<T> {
  return asked.fault?.kind === "wrong" ? { ...asked, fault: undefined } : asked;
}

export function useJson<T>(path: string | null): Asked<T> {
  const key = path && `${path} ${now.value}`;
  return useLoad(key, (signal) => getJson<T>(path as string, signal), path ?? "");
}

/** The experiments, the newest first, of up to five pages: a choice of one needs all that it may be. */
export function useExperiments(): Asked<Listed> {
  const path = (after: string) => labPath("experiments", { limit: "1000", ...(after ? { after } : {}) }, tenant.value);
  return useLoad(`${path("")} ${now.value}`, (signal) => allOf((after) => getJson<ListPage>(path(after), signal)), path(""));
}

/** True once `on` has lasted for 150 ms: what is quick shows no grey bars. */
export function useSlow(on: boolean): boolean {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    setSlow(false);
    if (!on) return undefined;
    const timer = setTimeout(() => setSlow(true), 150);
    return () => clearTimeout(timer);
  }, [on]);
  return on && slow;
}

/** The width of an element, in pixels. */
export function useWidth<T extends HTMLElement>(): [{ current: T | null }, number] {
  const ref = useRef<T>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const watch = new ResizeObserver(() => setWidth(element.clientWidth));
    watch.observe(element);
    setWidth(element.clientWidth);
    return () => watch.disconnect();
  }, []);
  return [ref, width];
}
