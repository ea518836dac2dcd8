// Page 9: the server itself. One JSON is shown as it comes: what a later server adds is shown too.
import { useMemo } from "preact/hooks";
import { type Row, rowsOf } from "../lib/api";
import { bytes, cost, count, numberOf, seconds, value } from "../lib/format";
import { type Asked, useAsk, useJson } from "../lib/hooks";
import { type Lasting, certificateLasts, diskLasts } from "../lib/lasting";
import { fixed } from "../lib/range";
import { scoreQuery } from "../lib/score-query";
import { bind } from "../lib/statement";
import { copy, hrefOf, span } from "../lib/store";
import { line, visible } from "../lib/text";
import { useWalk } from "../lib/walk";
import { FaultBox, Panel } from "../ui/panel";
import { Link, Meter, Time } from "../ui/parts";
import { Top } from "../ui/shell";
import { type Json, Part, titleOf } from "./system-parts";
import C18 from "../../sql/C18.sql";

type Status = Record<string, Json>;

/** Shown by the head, or by a part of their own. */
const OWN = new Set(["version", "started_at", "uptime_seconds", "tenant", "not_ready", "damage", "memory", "disk", "tls", "configuration", "config"]);

export default function System() {
  const asked = useJson<Status>("/v1/status");
  const status = asked.data;
  useWalk();
  return (
    <>
      <Top title="System">
        {status && <button type="button" onClick={() => void copy(JSON.stringify(status, null, 2), "Diagnostics")}>Copy diagnostics</button>}
      </Top>
      <main id="main" tabIndex={-1}>
        {asked.fault && <section class="panel padded"><FaultBox fault={asked.fault} retry={asked.retry} /></section>}
        {status && <Head status={status} />}
        {status && <Parts status={status} asked={asked} />}
        <Evaluators />
        {status && <Configuration value={status.configuration ?? status.config} />}
      </main>
    </>
  );
}

function faultsOf(status: Status): string[] {
  const texts = (part: Json | undefined) => {
    const list = Array.isArray(part) ? part : part === null || part === undefined || part === false ? [] : [part];
    return list.map((each) => (typeof each === "string" ? each : JSON.stringify(each)));
  };
  return [...texts(status.not_ready).map((text) => `not ready: ${text}`), ...texts(status.damage)];
}

function Head({ status }: { status: Status }) {
  const faults = faultsOf(status);
  const disk = status.disk as Record<string, Json> | null | undefined;
  const [free, total] = [numberOf(disk?.free_bytes), numberOf(disk?.total_bytes)];
  const certificate = certificateLasts(status.tls as Record<string, Json> | null | undefined, Date.now());
  const memory = numberOf((status.memory as Record<string, Json> | null | undefined)?.resident_bytes);
  return (
    <section aria-label="Summary" class="stack">
      <div class="panel padded-all" role="status">
        {faults.length === 0 ? <strong class="good">✓ Ready, nothing damaged</strong>
          : <ul class="stack">{faults.map((text) => <li key={text} class="bad">! {visible(text)}</li>)}</ul>}
      </div>
      <dl class="tiles">
        <div><dt>Version</dt><dd>{visible(String(status.version ?? "–"))}</dd></div>
        <div><dt>Up for</dt><dd>{seconds(numberOf(status.uptime_seconds))}</dd></div>
        {memory !== null && <div><dt>Memory</dt><dd>{bytes(memory)}</dd></div>}
        {free !== null && total !== null && (
          <div><dt>Disk</dt><dd>{bytes(free)} <small>free of {bytes(total)}</small><Meter share={1 - free / (total || 1)} {...(free / (total || 1) < 0.1 ? { tone: "var(--bad)" } : {})} /><Lasts of={diskLasts(disk, Date.now())} /></dd></div>
        )}
        {certificate && <div><dt>Certificate</dt><dd><Lasts of={certificate} /><br /><small><Time at={String((status.tls as Record<string, Json>).certificate_ends ?? "")} /></small></dd></div>}
        {typeof status.tenant === "string" && <div><dt>Tenant</dt><dd>{visible(status.tenant)}</dd></div>}
      </dl>
    </section>
  );
}

function Lasts({ of: { text, urgent } }: { of: Lasting }) {
  return <small class={urgent ? "bad" : ""}>{urgent && "! "}{text}</small>;
}

function Parts({ status, asked }: { status: Status; asked: Asked<Status> }) {
  const parts = Object.entries(status).filter(([name]) => !OWN.has(name));
  return (
    <div class="parts">
      {parts.map(([name, part]) => (
        <Panel key={name} title={titleOf(name)} asked={{ ...asked, fault: undefined }}>
          {() => <Part name={name} value={part} />}
        </Panel>
      ))}
    </div>
  );
}

function Evaluators() {
  const { from, to } = fixed(span.value);
  const bound = useMemo(() => bind(C18, { from, to }), [from, to]);
  const asked = useAsk(bound);
  return (
    <Panel title="Evaluators in this time range" sub="duration of a score, errors, cost" asked={asked} bound={bound} flush>
      {(table) => (table.rows === 0 ? <p class="empty">No score was made in this time range.</p> : (
        <div class="scroll" tabIndex={0} role="group" aria-label="Evaluators" data-walk>
          <table>
            <thead><tr>
              <th scope="col">Evaluator</th><th scope="col">Version</th><th scope="col" class="num">Scores n</th><th scope="col" class="num">Half within</th>
              <th scope="col" class="num">99 % within</th><th scope="col" class="num">Errors</th><th scope="col" class="num">Cost</th>
            </tr></thead>
            <tbody>{rowsOf(table).map((row, at) => <Evaluator key={at} row={row} from={from} to={to} />)}</tbody>
          </table>
        </div>
      ))}
    </Panel>
  );
}

/** Each number leads to a query over its scores, with their traces. */
function Evaluator({ row, from, to }: { row: Row; from: string; to: string }) {
  const evaluator = String(row.evaluator);
  const version = row.evaluator_version === null ? null : String(row.evaluator_version);
  const of = (columns: string, more: string[], order: string) => hrefOf("sql", "", { q: scoreQuery({ evaluator, version, from, to }, columns, more, order) });
  const [half, most, errors, usd] = [numberOf(row.p50_ms), numberOf(row.p99_ms), numberOf(row.errors) ?? 0, numberOf(row.cost_usd)];
  const slow = (ms: number | null) => (ms === null ? "–" : <Link class="plain" title="What took longer" href={of("status, latency_ms", [`latency_ms >= ${ms}`], "latency_ms")}>{milliseconds(ms)}</Link>);
  return (
    <tr>
      <td>{line(evaluator, 60)}</td><td class="muted small clip">{line(version ?? "–", 80)}</td>
      <td class="num"><Link class="plain" href={of("status, value, passed, latency_ms", [], "evaluated_at")}>{count(numberOf(row.n))}</Link></td>
      <td class="num">{slow(half)}</td><td class="num">{slow(most)}</td>
      <td class="num">{errors > 0 ? <Link class="bad" title={line(String(row.error), 300)} href={of("error", ["status = 'error'"], "evaluated_at")}>! {count(errors)}</Link> : "0"}</td>
      <td class="num">{usd === null ? "–" : <Link class="plain" title="What cost most" href={of("cost_usd", ["cost_usd IS NOT NULL"], "cost_usd")}>{cost(usd)}</Link>}</td>
    </tr>
  );
}

function milliseconds(ms: number): string {
  return ms < 0.01 ? "< 0.01 ms" : ms < 1000 ? `${value(Number(ms.toPrecision(3)))} ms` : seconds(ms / 1000);
}

function Configuration({ value: config }: { value: Json | undefined }) {
  if (config === undefined || config === null) return null;
  const text = JSON.stringify(config, null, 2);
  return (
    <details class="panel fold-panel">
      <summary>Configuration in force, secrets masked</summary>
      <div class="body stack"><div><button type="button" onClick={() => void copy(text, "Configuration")}>Copy</button></div><pre class="code">{visible(text)}</pre></div>
    </details>
  );
}
