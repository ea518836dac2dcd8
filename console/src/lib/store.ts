// What all pages share: where we are, the time range, the theme, who is looking.
import { computed, signal } from "@preact/signals";
import { type Address, type PageName, type State, changed, formatAddress, parseAddress, sharedState } from "./address";
import { DEFAULT, type Range, fixed, rangeOf, spanOf, stateOf } from "./range";
import type { Zone } from "./format";
import type { Me } from "./who";

/** Storage can be refused (private windows, policies): then nothing is remembered. */
export function remembered(key: string): string {
  try {
    return localStorage.getItem(`groundline.${key}`) ?? "";
  } catch {
    return "";
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(`groundline.${key}`, value);
  } catch {
    // Not remembered.
  }
}

export const address = signal<Address>(parseAddress(location.pathname, location.hash));
export const me = signal<Me | null | undefined>(undefined);
export const loginNeeded = signal(false);
/** What "now" means on this page; moved by refresh, never by itself. */
export const now = signal(Date.now());
export const zone = signal<Zone>(remembered("zone") === "utc" ? "utc" : "local");
export const theme = signal(remembered("theme"));
export const notice = signal("");
/** The tenant that an admin has chosen; the server narrows to it. Empty: all. */
export const tenant = signal("");

export const range = computed<Range>(() =>
  rangeOf(address.value.state) ?? rangeOf({ range: remembered("range") }) ?? DEFAULT);
export const span = computed(() => spanOf(range.value, now.value));

function arrive(): void {
  address.value = parseAddress(location.pathname, location.hash);
}

export function start(): void {
  // Messages that are underway may name an alert as a question to the start page.
  const alert = location.pathname === "/" ? new URLSearchParams(location.search).get("alert") : null;
  if (alert) history.replaceState(null, "", formatAddress("alerts", "", { alert }));
  if (alert) arrive();
  addEventListener("popstate", arrive);
  addEventListener("hashchange", arrive);
}

export function goTo(href: string, replace = false): void {
  const before = address.value;
  history[replace ? "replaceState" : "pushState"](null, "", href);
  arrive();
  if (before.page !== address.value.page || before.id !== address.value.id) {
    now.value = Date.now();
    scrollTo(0, 0);
  }
}

/** The address of a page, with the time range of this one. */
export function hrefOf(page: PageName, id = "", state: State = {}): string {
  return formatAddress(page, id, { ...sharedState(address.value.state), ...state });
}

/** Changes keys of the fragment; an empty text takes a key away. */
export function setState(change: Record<string, string>, replace = false): void {
  const { page, id, state } = address.value;
  goTo(formatAddress(page, id, changed(state, change)), replace);
}

export function setRange(next: Range): void {
  if (next.relative) remember("range", next.relative);
  now.value = Date.now();
  setState(stateOf(next));
}

export function refresh(): void {
  now.value = Date.now();
}

export function setTheme(next: string): void {
  theme.value = next;
  remember("theme", next);
  applyTheme();
}

export function applyTheme(): void {
  const root = document.documentElement;
  if (theme.value) root.dataset.theme = theme.value;
  else delete root.dataset.theme;
}

export function isDark(): boolean {
  return theme.value ? theme.value === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function setZone(next: Zone): void {
  zone.value = next;
  remember("zone", next);
}

let noticeTimer = 0;

/** Says something for a few seconds, politely. */
export function say(text: string): void {
  notice.value = text;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => (notice.value = ""), 4000) as unknown as number;
}

export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied`);
  } catch {
    say("The browser does not let this page use the clipboard");
  }
}

/** The link with its times made fixed. */
export function fixedLink(): string {
  const { page, id, state } = address.value;
  return location.origin + formatAddress(page, id, changed(state, stateOf(fixed(span.value))));
}
