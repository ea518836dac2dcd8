// Whether something changed: only where the two intervals lie apart. Intervals that touch show no change, which is not to
// say that there is none.
import type { Estimate } from "./format";

export interface Change {
  kind: "unknown" | "none" | "changed";
  by: number;
}

export function changeOf(now: Estimate, before: Estimate): Change {
  const bounds = [now.estimate, now.lower, now.upper, before.estimate, before.lower, before.upper];
  if (bounds.some((each) => typeof each !== "number")) return { kind: "unknown", by: 0 };
  const [estimate, lower, upper, was, wasLower, wasUpper] = bounds as number[];
  const apart = (lower as number) > (wasUpper as number) || (upper as number) < (wasLower as number);
  return { kind: apart ? "changed" : "none", by: (estimate as number) - (was as number) };
}
