// Where statements and lists end, so that a page can say that there may be more.

import { count } from "./format";

/** Spans of a conversation, as many as C6b brings. */
export const CONVERSATION = 200;
/** Changes of alerts, as many as C14 brings. */
export const CHANGES = 2000;
/** How many of them are shown. */
export const CHANGES_SHOWN = 300;

/** What is said of a list of changes that is cut; empty where all are shown. */
export function changesCut(rows: number): string {
  if (rows <= CHANGES_SHOWN) return "";
  const all = rows >= CHANGES ? `at least ${CHANGES}` : String(rows);
  return `The newest ${CHANGES_SHOWN} of ${all} changes. A shorter time range shows the others.`;
}

/** What is said of any list of which the first so many are shown; empty where all are. */
export function cutText(all: number, most: number, what: string): string {
  return all <= most ? "" : `The first ${count(most)} of ${count(all)} ${what}.`;
}

/** Rows of parts that are shown: 200 parts of each of 20 experiments, with every metric, would be too many for a page. */
export const PARTS_SHOWN = 1000;

/** What is said of parts that are cut; empty where all are shown. */
export function partsCut(rows: number): string {
  return rows <= PARTS_SHOWN ? "" : `The first ${PARTS_SHOWN} of ${rows} rows. The API has all.`;
}

/** What is said of a conversation that is cut; empty where all of it is shown. */
export function conversationCut(rows: number): string {
  return rows < CONVERSATION ? "" : `The first ${CONVERSATION} spans with messages, documents or what tools answered; there may be more. The waterfall has all spans.`;
}
