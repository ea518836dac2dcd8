// Counting down until a busy server is asked again. Each refusal counts anew, also the one that answers such a try.
import type { Fault } from "./api";

export interface Counting {
  /** The refusal that it belongs to. */
  of: Fault;
  /** Seconds that are left. */
  left: number;
}

/** Seconds that are waited where the server does not say how long. */
const USUAL = 5;

/** What is left: of what was counted before only where it belongs to the same refusal. */
export function countingOf(known: Counting | undefined, fault: Fault): Counting {
  return known?.of === fault ? known : { of: fault, left: fault.retryAfter || USUAL };
}
