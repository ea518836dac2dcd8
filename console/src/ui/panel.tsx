// A panel: its own loading, its own fault, its own SQL. One that fails leaves the others alone.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Counting, countingOf } from "../lib/again";
import type { Fault } from "../lib/api";
import { type Asked, useSlow } from "../lib/hooks";
import { portOf, psqlLine, reachOf, server, shellQuoted } from "../lib/server";
import { loginNeeded, hrefOf, me, range, setRange } from "../lib/store";
import { CHOICES } from "../lib/range";
import type { Bound } from "../lib/statement";
import { visible } from "../lib/text";
import { CopyButton, Link } from "./parts";

interface PanelProps<T> {
  title: string;
  sub?: ComponentChildren;
  asked: Asked<T>;
  bound?: Bound | Bound[] | undefined;
  tools?: ComponentChildren;
  flush?: boolean;
  children: (data: T) => ComponentChildren;
}

export function Panel<T>({ title, sub, asked, bound, tools, flush, children }: PanelProps<T>) {
  const slow = useSlow(asked.busy);
  const all = bound === undefined ? [] : Array.isArray(bound) ? bound : [bound];
  return (
    <section class={slow && asked.data !== undefined ? "panel stale" : "panel"} aria-busy={asked.busy} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {sub && <span class="sub">{sub}</span>}
        <span class="tools">{tools}{all.length > 0 && <ShowSql bounds={all} />}</span>
      </header>
      {asked.fault && <FaultBox fault={asked.fault} retry={asked.retry} />}
      {asked.data !== undefined && <div class={flush ? "body flush" : "body"}>{children(asked.data)}</div>}
      {asked.data === undefined && !asked.fault && slow && <Bars />}
    </section>
  );
}

export function Bars() {
  return <div class="bars" role="status"><span class="hidden">Loading</span><i /><i /><i /></div>;
}

const HEADS: Record<Fault["kind"], string> = {
  offline: "No connection", login: "A token is needed", forbidden: "Not for this token", missing: "Not here",
  limit: "A limit was met", busy: "The server is busy", wrong: "The query is wrong", server: "The server failed",
};

export function FaultBox({ fault, retry }: { fault: Fault; retry?: () => void }) {
  const shorter = shorterRange();
  return (
    <div class="fault" role="alert">
      <strong>{HEADS[fault.kind]}</strong>
      <p>{visible(fault.message)}</p>
      <div class="row">
        {fault.key && <span>Limit: <code>{fault.key}</code></span>}
        {fault.kind === "busy" && retry && <Countdown fault={fault} then={retry} />}
        {retry && <button type="button" onClick={retry}>Try again</button>}
        {fault.kind === "limit" && shorter && (
          <button type="button" onClick={() => setRange({ relative: shorter[0], from: "", to: "" })}>{shorter[1]}</button>
        )}
        {fault.kind === "login" && <button type="button" onClick={() => (loginNeeded.value = true)}>Log in</button>}
      </div>
    </div>
  );
}

function shorterRange(): readonly [string, string] | undefined {
  const at = CHOICES.findIndex(([key]) => key === range.value.relative);
  return at > 0 ? CHOICES[at - 1] : at < 0 ? CHOICES[0] : undefined;
}

function Countdown({ fault, then }: { fault: Fault; then: () => void }) {
  const [known, setKnown] = useState<Counting | undefined>();
  const { left } = countingOf(known, fault);
  useEffect(() => {
    if (left <= 0) {
      then();
      return undefined;
    }
    const timer = setTimeout(() => setKnown({ of: fault, left: left - 1 }), 1000);
    return () => clearTimeout(timer);
  }, [fault, left]);
  return <span>asks again in {Math.max(0, left)} s</span>;
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return <div class="empty"><strong>{title}</strong>{children}</div>;
}

/** "SQL": what this view asked, to copy, to open on page 10, to run with psql. */
export function ShowSql({ bounds }: { bounds: Bound[] }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="quiet" onClick={() => setOpen(true)} aria-haspopup="dialog">SQL</button>
      {open && (
        <Modal title="The SQL of this view" close={() => setOpen(false)}>
          <div class="stack">{bounds.map((bound) => <OneSql key={bound.shown} bound={bound} />)}</div>
        </Modal>
      )}
    </>
  );
}

/** The line that asks the same by psql, with this server's own port. */
export function psqlOf(bound: Bound): string {
  return psqlLine(bound.shown, reachOf(server.value, location, me.value?.needs_token === true), portOf(server.value, /^postgresql$/i));
}

function OneSql({ bound }: { bound: Bound }) {
  return (
    <div class="stack">
      <pre class="code">{visible(bound.shown)}</pre>
      <div class="row">
        <CopyButton text={bound.shown} what="SQL" />
        <Link class="button" href={hrefOf("sql", "", { q: bound.shown })}>Open on the SQL page</Link>
        <CopyButton text={psqlOf(bound)} what="psql line" />
        <CopyButton text={`groundline sql --url ${location.origin} ${shellQuoted(bound.shown)}`} what="groundline line" />
      </div>
    </div>
  );
}

/** A dialog of the browser: it keeps the focus inside and closes with Escape. */
export function Modal({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    ref.current?.showModal();
  }, []);
  // The browser gives the focus back when the dialog is closed, not when it is taken out of the page; `onClose` does that.
  const end = () => ref.current?.close();
  const outside = (event: MouseEvent) => event.target === ref.current && end();
  return (
    <dialog ref={ref} onClose={close} onClick={outside} aria-label={title}>
      <header>
        <h2>{title}</h2>
        <span class="grow" />
        <button type="button" class="quiet" onClick={end}>Close</button>
      </header>
      <div class="body" tabIndex={0}>{children}</div>
    </dialog>
  );
}
