// The pages that the measurements open, and when one is there.
import { sqlOf } from "./demo.mjs";
import { DEMO } from "./flows.mjs";

/** The demo's captures lie within it, whenever it was started. */
export const RECENT = "range=30d";

export async function paths(world) {
  const [{ trace_id: id }] = await sqlOf(world.base, "SELECT trace_id FROM traces WHERE session_id IS NOT NULL ORDER BY spans DESC, trace_id LIMIT 1");
  return [`/#${DEMO}`, `/trace/${id}`, `/explore#${DEMO}`, `/scores/hallucination#${DEMO}`, "/alerts", "/review", "/lab/datasets", "/lab/leaderboard", `/sampling#${DEMO}`, "/system", "/sql"];
}

/**
 * Without anything busy: what is asked has come and is drawn. It answers no element: the debugger would hold it, and all that it stands
 * in, for as long as the page lives.
 */
export const drawn = (page) => page.waitForFunction(() => document.querySelector("h1") !== null && document.querySelector("[aria-busy=true], .bars") === null, undefined, { timeout: 120_000 });
