// Page 1: quality over time. Small multiples of the worst metrics, then service × model × metric.
import { useMemo } from "preact/hooks";
import { type Row, type Table, rowsOf } from "../lib/api";
import { finalText, finalUntil, openFrom } from "../lib/final";
import { millis, time } from "../lib/format";
import { type Asked, useAsk } from "../lib/hooks";
import { chosenOf, chosenText, metricsIn } from "../lib/quality";
import { fixed, stepOf } from "../lib/range";
import { sparksOf } from "../lib/spark";
import { bind } from "../lib/statement";
import { address, range, setRange, span, zone } from "../lib/store";
import { useWalk } from "../lib/walk";
import { visible } from "../lib/text";
import { Panel } from "../ui/panel";
import { Top } from "../ui/shell";
import { FirstSpan } from "./quality-empty";
import { Multiples } from "./quality-charts";
import { Choose } from "./quality-choose";
import { QualityTable, ROW } from "./quality-table";
import C1b from "../../sql/C1b.sql";
import C2 from "../../sql/C2.sql";
import C24 from "../../sql/C24.sql";
import C3 from "../../sql/C3.sql";
import C40 from "../../sql/C40.sql";

export default function Quality() {
  const { from, to } = fixed(span.value);
  const step = stepOf(span.value, 90);
  const there = useAsk(useMemo(() => bind(C24, { from, to }), [from, to]));
  const state = there.data ? rowsOf(there.data)[0] : undefined;
  const empty = state !== undefined && Number(state.spans) === 0;
  return (
    <>
      <Top title="Quality">{there.data && !empty && <Final table={there.data} />}</Top>
      <main id="main" tabIndex={-1}>
        {empty ? <FirstSpan asked={there} /> : <Body from={from} to={to} step={step} state={state} there={there} />}
      </main>
    </>
  );
}

interface BodyProps {
  from: string;
  to: string;
  step: { sql: string; ms: number };
  state: Row | undefined;
  there: Asked<unknown>;
}

function Body({ from, to, step, state, there }: BodyProps) {
  const before = new Date(Date.parse(from) - (Date.parse(to) - Date.parse(from))).toISOString();
  const wanted = address.value.state.metrics ?? "";
  const chosen = useMemo(() => chosenOf(wanted), [wanted]);
  const series = useMemo(() => bind(C1b, { from, to, step: step.sql, chosen: chosenText(chosen) }), [from, to, step.sql, chosen]);
  const table = useMemo(() => bind(C2, { before, from, to }), [from, to]);
  const marks = useMemo(() => bind(C3, { from, to }), [from, to]);
  const charts = useAsk(series);
  const rows = useAsk(table);
  const changes = useAsk(marks);
  const small = stepOf(span.value, 24);
  const curves = useMemo(() => bind(C40, { from, to, step: small.sql }), [from, to, small.sql]);
  // Asked when the rest is there: what is read first does not wait for it.
  const drawn = useAsk(rows.data && charts.data ? curves : null);
  const sparks = useMemo(() => sparksOf(drawn.data, ROW), [drawn.data]);
  const names = useMemo(() => (rows.data ? metricsIn(rowsOf(rows.data)) : []), [rows.data]);
  useWalk();
  return (
    <>
      <Panel title={chosen.length > 0 ? "Share that passes, the metrics that were chosen" : "Share that passes, the worst metrics first"} asked={charts} bound={[series, marks]}
        sub={`95 % interval shaded, ${step.sql} a bucket`} tools={<><Fit state={state} /><Choose chosen={chosen} names={names} /></>}>
        {(data) => <Multiples table={data} changes={changes.data} openFrom={openFrom(finalUntil(data), span.value, step.ms)} step={step.ms} there={state} asked={there} chosen={chosen} names={names} busy={charts.busy} />}
      </Panel>
      <Panel title="By service, model and metric" asked={rows} bound={[table, curves]} flush sub={`change against the window before; the curves have one scale, from 0 to 1, and ${small.sql} a bucket`}>
        {(data) => <QualityTable table={data} sparks={sparks} step={small.ms} fault={drawn.fault} />}
      </Panel>
    </>
  );
}

function Final({ table }: { table: Table }) {
  const waits = String(rowsOf(table)[0]?.waits_for ?? "");
  const { text, late } = finalText(finalUntil(table), span.value, visible(waits), (at) => time(at, zone.value));
  return <span class={late ? "chip warn" : "chip outline"} title="Younger buckets are hatched: their items are not all judged yet">{text}</span>;
}

/** The demo's and a young server's data fill a corner of the range: one click shows it in full. */
function Fit({ state }: { state: Row | undefined }) {
  if (typeof state?.first !== "string" || typeof state.last !== "string") return null;
  const [first, last] = [millis(state.first), millis(state.last) + 1];
  const length = span.value.to - span.value.from;
  if ((last - first) * 6 > length || (range.value.relative === "" && length < 120_000)) return null;
  const pad = Math.max(5_000, (last - first) * 0.02);
  return (
    <button type="button" onClick={() => setRange(fixed({ from: first - pad, to: last + pad }))}>
      All scores lie between {time(first, zone.value)} and {time(last, zone.value)}: show that
    </button>
  );
}
