// Rows that the keyboard walks: `j` and `k` move the focus from row to row of the tables that say so, `Enter` follows the link
// that has it, as everywhere.
import { useKeys } from "./keys";

/** The place after a step among so many; a first step comes to the first. */
export function placeAfter(rows: number, at: number, by: number): number {
  return at < 0 ? 0 : Math.max(0, Math.min(rows - 1, at + by));
}

/** Whether a click in a row was on a link: it leads elsewhere, and the address there is not the row's to change. */
export function leads({ target }: Pick<Event, "target">): boolean {
  return ((target as Element | null)?.closest("a[href]") ?? null) !== null;
}

/** What the focus stands on in each row: its first link, else its first button. */
function stops(): HTMLElement[] {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-walk] tbody tr")];
  return rows.map((row) => row.querySelector<HTMLElement>("a[href]") ?? row.querySelector<HTMLElement>("button")).filter((stop) => stop !== null);
}

/** The stop of the row that the focus is in; -1 where it is in none. */
function here(all: HTMLElement[]): number {
  return all.findIndex((stop) => stop.closest("tr")?.contains(document.activeElement));
}

/** Keys for every table of the page that stands in a `data-walk`. */
export function useWalk(): void {
  const walk = (by: number) => {
    const all = stops();
    const next = all[placeAfter(all.length, here(all), by)];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  const open = () => {
    const all = stops();
    all[here(all)]?.click();
  };
  useKeys([
    { keys: "j", what: "Next row", run: () => walk(1) },
    { keys: "k", what: "Row before", run: () => walk(-1) },
    { keys: "Enter", what: "Open the row", run: open },
  ], []);
}
