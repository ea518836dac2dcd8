// Small parts that every page uses.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Estimate, interval, rate, time } from "../lib/format";
import { copy, goTo, hrefOf, zone } from "../lib/store";
import { cut, visible } from "../lib/text";

interface LinkProps {
  href: string;
  children: ComponentChildren;
  class?: string;
  title?: string;
  "aria-current"?: "page" | "true";
  "aria-label"?: string;
}

/** A link inside of the console: a plain click changes the page without a load, anything else is the browser's. */
export function Link({ href, children, ...rest }: LinkProps) {
  const click = (event: MouseEvent) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    goTo(href);
  };
  return <a href={href} onClick={click} {...rest}>{children}</a>;
}

export function TraceLink({ id, span, children }: { id: string; span?: string | null; children?: ComponentChildren }) {
  return (
    <Link href={hrefOf("trace", id, span ? { span } : {})} class="mono" title={id}>
      {children ?? visible(id.slice(0, 8))}
    </Link>
  );
}

/** Text of a span: hidden characters as marks, the first part only, the rest on demand. */
export function Hostile({ text, most }: { text: string; most?: number }) {
  const [all, setAll] = useState(false);
  const { head, rest } = all ? { head: text, rest: 0 } : cut(text, most);
  return (
    <>
      {visible(head)}
      {rest > 0 && (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          {rest.toLocaleString("en")} more characters
        </button>
      )}
    </>
  );
}

export function Time({ at, digits = 0 }: { at: string | null | undefined; digits?: number }) {
  if (!at) return <span class="muted">–</span>;
  return <time dateTime={at} title={at} class="nowrap">{time(at, zone.value, digits)}</time>;
}

export function CopyButton({ text, what, label }: { text: string; what: string; label?: string }) {
  return (
    <button type="button" class="quiet" onClick={() => void copy(text, what)}>{label ?? `Copy ${what === what.toUpperCase() ? what : what.toLowerCase()}`}</button>
  );
}

/** What is made when it is opened, and not before: it may be long. */
export function Later({ summary, children }: { summary: ComponentChildren; children: () => ComponentChildren }) {
  const [open, setOpen] = useState(false);
  return <details class="fold" onToggle={(event) => setOpen(event.currentTarget.open)}><summary>{summary}</summary>{open && children()}</details>;
}

/** An interval as a line with its estimate, on a scale from 0 to 1 or as given. */
export function Whisker({ estimate, lower, upper, low = 0, high = 1 }: Estimate & { low?: number; high?: number }) {
  if (typeof estimate !== "number") return null;
  const place = (x: number) => Math.min(100, Math.max(0, ((x - low) / (high - low || 1)) * 100));
  const left = place(lower ?? estimate);
  const right = place(upper ?? estimate);
  return (
    <span class="whisker" aria-hidden="true">
      <i style={{ left: `${left}%`, width: `${Math.max(right - left, 1)}%` }} />
      <b style={{ left: `${place(estimate)}%` }} />
    </span>
  );
}

/** The one way to write an estimate. */
export function Interval(props: Estimate & { whisker?: boolean }) {
  const few = typeof props.estimate !== "number";
  return (
    <span class={few ? "muted nowrap" : "nowrap"}>
      {props.whisker && <><Whisker {...props} />{" "}</>}
      {few ? interval(props) : (
        <>
          <strong>{rate(props.estimate)}</strong>
          <span class="muted">{interval(props).slice(rate(props.estimate).length)}</span>
        </>
      )}
    </span>
  );
}

export type Verdict = "pass" | "fail" | "skipped" | "error" | "none";

export function verdictOf(status: unknown, passed: unknown): Verdict {
  if (status === "skipped") return "skipped";
  if (status === "error") return "error";
  return passed === true ? "pass" : passed === false ? "fail" : "none";
}

const VERDICTS: Record<Verdict, { sign: string; word: string; tone: string }> = {
  pass: { sign: "✓", word: "passed", tone: "good" },
  fail: { sign: "✗", word: "failed", tone: "bad" },
  skipped: { sign: "–", word: "skipped", tone: "" },
  error: { sign: "!", word: "error", tone: "warn" },
  none: { sign: "·", word: "no verdict", tone: "" },
};

export function VerdictChip({ verdict, children, title }: { verdict: Verdict; children?: ComponentChildren; title?: string }) {
  const { sign, word, tone } = VERDICTS[verdict];
  return (
    <span class={`chip ${tone}`} title={title}>
      <span aria-hidden="true">{sign}</span>
      <span class={children ? "hidden" : ""}>{word}</span>
      {children}
    </span>
  );
}

/** A part of a whole, as a bar; the numbers stand beside it. */
export function Meter({ share, tone }: { share: number; tone?: string }) {
  return (
    <span class="meter" aria-hidden="true">
      <i style={{ width: `${Math.min(100, Math.max(0, share * 100))}%`, ...(tone ? { background: tone } : {}) }} />
    </span>
  );
}
