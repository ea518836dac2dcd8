// Having the server ask a target of its configuration, a few runs at a time, until an experiment has all its answers.
import { Fault, postJson } from "./api";
import { labPath } from "./lab";

export interface Stored {
  stored: number;
  missing: number;
  status: string;
}

/** Runs of one request: few, so that progress is seen and leaving costs little. */
const AT_ONCE = 16;
/** How often a busy server is asked again. */
const TRIES = 30;

/**
 * Asks until nothing is missing; `told` hears of every step. What is stored stays when it is ended.
 * @throws Fault where the server refuses, or where it is busy for too long.
 */
export async function runAll(id: string, tenant: string, told: (now: Stored) => void, signal: AbortSignal): Promise<void> {
  for (let busy = 0; ;) {
    try {
      const now = (await postJson(labPath(`experiments/${encodeURIComponent(id)}/run`, { limit: String(AT_ONCE) }, tenant), {}, signal)) as Stored;
      busy = 0;
      told(now);
      if (now.missing === 0) return;
      if (now.stored === 0) throw new Fault("server", "the server stored no answer of the last runs: see the experiment's errors");
    } catch (error) {
      if (!(error instanceof Fault) || error.kind !== "busy" || ++busy > TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, (error.retryAfter || 1) * 1000));
    }
    if (signal.aborted) return;
  }
}
