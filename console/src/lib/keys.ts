// Keys of the keyboard. Every key has a visible control that does the same; none acts while somebody types.
import { useLayoutEffect } from "preact/hooks";

export interface Key {
  /** "j", "?", "g q". */
  keys: string;
  what: string;
  run: () => void;
}

const active: Key[] = [];
let prefix = "";
let prefixTimer = 0;

export function allKeys(): readonly Key[] {
  return active;
}

/** Adds keys while a component stands; the newest wins. */
export function useKeys(keys: Key[], deps: unknown[]): void {
  // Before the next key: one that comes right behind another must meet what that one has changed.
  useLayoutEffect(() => {
    active.unshift(...keys);
    return () => {
      for (const key of keys) active.splice(active.indexOf(key), 1);
    };
  }, deps);
}

function typing(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  return element?.closest?.("input, textarea, select, [contenteditable=true]") !== null && element !== document.body;
}

function press(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key !== "Escape" && typing(event.target)) return;
  const modal = document.querySelector("dialog:modal");
  if (modal !== null) return;
  const name = prefix === "" ? event.key : `${prefix} ${event.key}`;
  clearTimeout(prefixTimer);
  prefix = "";
  const found = active.find((key) => key.keys === name);
  if (found) {
    // A focused button keeps its own Enter.
    if (event.key === "Enter" && (event.target as HTMLElement).closest?.("a, button, summary")) return;
    event.preventDefault();
    found.run();
  } else if (active.some((key) => key.keys.startsWith(`${event.key} `))) {
    prefix = event.key;
    prefixTimer = setTimeout(() => (prefix = ""), 1500) as unknown as number;
  }
}

export function startKeys(): void {
  addEventListener("keydown", press);
}
