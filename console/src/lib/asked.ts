// What a panel knows of its question while answers come and go. Pure; the hooks ask.
import type { Fault } from "./api";

export interface Known<T> {
  data?: T;
  /** The question that the data answer. */
  of?: string;
  /** The tenant that was asked about. */
  tenant?: string;
  fault?: Fault;
  busy: boolean;
}

/** A question is asked: the old answer stays until the new one is there, but never that of another tenant. */
export function asking<T>(known: Known<T>, tenant: string): Known<T> {
  return known.tenant === tenant ? { ...known, busy: true } : { tenant, busy: true };
}

export function answered<T>(data: T, of: string, tenant: string): Known<T> {
  return { data, of, tenant, busy: false };
}

/** No answer came: the old one stays only where it answers the same, or where the question itself was wrong and its writer goes on. */
export function refused<T>(known: Known<T>, of: string, fault: Fault): Known<T> {
  const stays = known.data !== undefined && (known.of === of || fault.kind === "wrong");
  if (stays) return { ...known, fault, busy: false };
  return { ...(known.tenant === undefined ? {} : { tenant: known.tenant }), fault, busy: false };
}

/** Whether the data are of this question, and not of one that was asked before. */
export function isAnswer<T>(known: Known<T>, of: string): boolean {
  return known.data !== undefined && known.of === of;
}

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** What is asked, whenever it is: the times of a range that follows the clock are others with each look. */
export function questionOf(query: string, params: readonly unknown[], relative: string): string {
  const same = relative === "" ? params : params.map((each) => (typeof each === "string" && TIME.test(each) ? "" : each));
  return JSON.stringify([query, same, relative]);
}
