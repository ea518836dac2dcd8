// The time range of all pages.
import { useEffect, useRef, useState } from "preact/hooks";
import { CHOICES, nameOf, shifted } from "../lib/range";
import { range, setRange, span, zone } from "../lib/store";
import { time } from "../lib/format";

export function RangePicker() {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useOutside(box, open, () => setOpen(false));
  const { from, to } = span.value;
  return (
    <div class="anchor row" ref={box}>
      <button type="button" aria-label="Time window before" title="Key [" onClick={() => setRange(shifted(span.value, -1))}>‹</button>
      <button type="button" aria-expanded={open} aria-haspopup="true" onClick={() => setOpen(!open)} data-range
        title={`${time(from, zone.value)} to ${time(to, zone.value)}`}>
        {range.value.relative ? nameOf(range.value) : `${time(from, zone.value)} – ${time(to, zone.value)}`}
      </button>
      <button type="button" aria-label="Time window after" title="Key ]" onClick={() => setRange(shifted(span.value, 1))}>›</button>
      {open && <Choices close={() => setOpen(false)} />}
    </div>
  );
}

function Choices({ close }: { close: () => void }) {
  const pick = (relative: string) => {
    setRange({ relative, from: "", to: "" });
    close();
  };
  return (
    <div class="popup right">
      {CHOICES.map(([key, name]) => (
        <button key={key} type="button" aria-pressed={range.value.relative === key} onClick={() => pick(key)}>{name}</button>
      ))}
      <Fixed close={close} />
    </div>
  );
}

function local(at: number): string {
  const shift = zone.value === "utc" ? 0 : new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - shift).toISOString().slice(0, 19);
}

function instant(text: string): number {
  return Date.parse(zone.value === "utc" ? `${text}Z` : text);
}

function Fixed({ close }: { close: () => void }) {
  const [from, setFrom] = useState(local(span.value.from));
  const [to, setTo] = useState(local(span.value.to));
  const [start, end] = [instant(from), instant(to)];
  const fits = Number.isFinite(start) && Number.isFinite(end) && start < end;
  const submit = (event: Event) => {
    event.preventDefault();
    if (!fits) return;
    setRange({ relative: "", from: new Date(start).toISOString(), to: new Date(end).toISOString() });
    close();
  };
  return (
    <form onSubmit={submit}>
      <label>From <input type="datetime-local" step="1" value={from} onInput={(e) => setFrom(e.currentTarget.value)} /></label>
      <label>To <input type="datetime-local" step="1" value={to} onInput={(e) => setTo(e.currentTarget.value)} /></label>
      <button type="submit" class="primary" disabled={!fits}>Apply</button>
    </form>
  );
}

export function useOutside(box: { current: HTMLElement | null }, on: boolean, close: () => void): void {
  useEffect(() => {
    if (!on) return undefined;
    const click = (event: Event) => !box.current?.contains(event.target as Node) && close();
    const key = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      // What has the focus goes with the popup: it comes back to what opened it.
      if (box.current?.contains(document.activeElement)) box.current.querySelector<HTMLElement>("[aria-expanded]")?.focus();
      close();
    };
    addEventListener("pointerdown", click);
    addEventListener("keydown", key);
    return () => {
      removeEventListener("pointerdown", click);
      removeEventListener("keydown", key);
    };
  }, [on]);
}
