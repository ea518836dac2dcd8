// Service × model × metric, the worst first.
import { useEffect, useMemo, useState } from "preact/hooks";
import { type Fault, type Row, type Table, rowsOf } from "../lib/api";
import { condition } from "../lib/filter";
import { count, interval, numberOf, rate } from "../lib/format";
import { fixed, stateOf } from "../lib/range";
import { ORDERS, changeIn, rowsIn } from "../lib/quality";
import { type Point, keyOf } from "../lib/spark";
import { address, hrefOf, setState, span } from "../lib/store";
import { line, visible } from "../lib/text";
import { Interval, Link, Whisker } from "../ui/parts";
import { Sparkline } from "../ui/sparkline";

/** What a row is known by. */
export const ROW = ["service_name", "request_model", "evaluator", "metric"];

interface QualityTableProps {
  table: Table;
  /** The curves by their rows. */
  sparks: Map<string, Point[]>;
  /** The width of a bucket of theirs, milliseconds. */
  step: number;
  /** Why there are no curves. */
  fault: Fault | undefined;
}

export function QualityTable({ table, sparks, step, fault }: QualityTableProps) {
  const rows = useMemo(() => rowsOf(table), [table]);
  const { find = "", order = "", all: wanted = "" } = address.value.state;
  // What is typed is looked for at once; the address has it when the field is left.
  const [text, setText] = useState(find);
  useEffect(() => setText(find), [find]);
  const shown = useMemo(() => rowsIn(rows, text, order), [rows, text, order]);
  const judged = shown.filter((row) => (numberOf(row.n) ?? 0) > 0);
  const rest = shown.length - judged.length;
  const all = wanted !== "";
  if (rows.length === 0) return <p class="empty">No score in this time range.</p>;
  return (
    <>
      <div class="under row">
        <input type="search" data-filter aria-label="Rows that contain" placeholder="service, model or metric (key /)" value={text} onInput={(event) => setText(event.currentTarget.value)} onChange={(event) => setState({ find: event.currentTarget.value.trim() }, true)} />
        <select aria-label="Order" value={Object.hasOwn(ORDERS, order) ? order : ""} onChange={(event) => setState({ order: event.currentTarget.value }, true)}>
          <option value="">worst upper bound first</option>
          {Object.entries(ORDERS).map(([name, [says]]) => <option key={name} value={name}>{says}</option>)}
        </select>
        <span class="muted small">{judged.length} of {rows.length}{rows.length >= 200 ? " (the first 200)" : ""}</span>
        {rest > 0 && <label class="small"><input type="checkbox" checked={all} onChange={() => setState({ all: all ? "" : "yes" }, true)} />also {rest} without a verdict</label>}
      </div>
      {fault && <p class="under bad small">No curves: {visible(fault.message.slice(0, 200))}</p>}
      <div class="scroll" tabIndex={0} role="group" aria-label="By service, model and metric" data-walk>
        <table class="quality">
          <thead><tr>
            <th scope="col">Service</th><th scope="col">Model</th><th scope="col">Metric</th>
            <th scope="col">Share that passes, 95 % interval</th><th scope="col" class="num">n eff.</th>
            <th scope="col">Over time</th><th scope="col">Change</th><th scope="col" class="num">Errors</th><th scope="col" class="num">Skipped</th>
          </tr></thead>
          <tbody>{(all ? shown : judged).map((row, at) => <OneRow key={at} row={row} points={sparks.get(keyOf(row, ROW))} step={step} />)}</tbody>
        </table>
      </div>
    </>
  );
}

function OneRow({ row, points, step }: { row: Row; points: Point[] | undefined; step: number }) {
  const estimate = { estimate: numberOf(row.estimate), lower: numberOf(row.lower), upper: numberOf(row.upper), n: numberOf(row.n) };
  const errors = numberOf(row.errors) ?? 0;
  const slice = [
    condition("service_name", row.service_name === null ? null : String(row.service_name), true),
    condition("request_model", row.request_model === null ? null : String(row.request_model), true),
  ].join(" AND ");
  const href = (more: Record<string, string> = {}) => hrefOf("scores", String(row.metric), { evaluator: String(row.evaluator), where: slice, ...more });
  const skipped = numberOf(row.skipped) ?? 0;
  return (
    <tr>
      <td class="clip">{row.service_name === null ? <span class="muted">none</span> : line(String(row.service_name), 60)}</td>
      <td class="clip">{row.request_model === null ? <span class="muted">none</span> : line(String(row.request_model), 60)}</td>
      <td class="noted"><Link href={href()}>{line(String(row.metric), 60)}</Link>
        {row.evaluator !== row.metric && <span class="muted small"> {line(String(row.evaluator), 40)}</span>}</td>
      <td><span class="named"><span class="whisker-cell"><Whisker {...estimate} /></span><Link class="plain" href={href()}><Interval {...estimate} /></Link></span></td>
      <td class="num">{row.n_eff === null ? "–" : <Link class="plain" href={href()}>{count(Math.round(numberOf(row.n_eff) ?? 0))}</Link>}</td>
      <td><Sparkline points={points} span={span.value} step={step} name={line(String(row.metric), 60)} /></td>
      <td><Link class="plain" href={href(withBefore())}><Change row={row} /></Link></td>
      <td class="num">{errors > 0 ? <Link class="bad" href={href({ show: "errors" })}>! {count(errors)}</Link> : "0"}</td>
      <td class="num muted">{skipped > 0 ? <Link class="plain" href={href({ show: "skipped" })}>{count(skipped)}</Link> : "0"}</td>
    </tr>
  );
}

/** This time range with the window before it, which a change is against. */
function withBefore(): Record<string, string> {
  const { from, to } = span.value;
  return stateOf(fixed({ from: from - (to - from), to }));
}

/** A change is said only where the two intervals lie apart. */
function Change({ row }: { row: Row }) {
  const change = changeIn(row);
  const title = `before: ${interval(change.before)}`;
  if (change.kind === "unknown") return <span class="muted" title={title}>–</span>;
  if (change.kind === "none") return <span class="muted nowrap" title={title}>none shown</span>;
  const better = change.by > 0;
  return (
    <span class={`chip ${better ? "good" : "bad"}`} title={title}>
      {better ? "▲ +" : "▼ −"}{rate(Math.abs(change.by))} <span class="hidden">{better ? "better" : "worse"}; {title}</span>
    </span>
  );
}
