// What an alert wants of a metric, as lines on the curve of the share that passes.
import { rate } from "./format";
import type { Definition } from "./server";
import { line } from "./text";

export interface Objective {
  /** The share that should pass. */
  y: number;
  text: string;
  short: string;
}

/** Most lines on one chart: more could not be told apart. */
const MOST = 4;

/** The objectives of the alerts on this metric, each once; `change` has none, because it learns its own. */
export function objectivesOf(alerts: readonly Definition[] | undefined, metric: string): Objective[] {
  const all = (alerts ?? []).filter((alert) => alert.metric === metric && typeof alert.objective === "number");
  return all.slice(0, MOST).map((alert) => {
    const part = alert.filter ? ` where ${line(alert.filter, 40)}` : "";
    return { y: alert.objective as number, text: `${line(alert.name, 30)} wants ${rate(alert.objective)}${part}`, short: `≥ ${rate(alert.objective)}` };
  });
}
