// The head of a trace: what was asked and answered, by whom, how long, for how much; the way through its session.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { type Row, rowsOf } from "../lib/api";
import { condition } from "../lib/filter";
import { cost, count, duration, millis, numberOf } from "../lib/format";
import { useAsk } from "../lib/hooks";
import { fixed, stateOf } from "../lib/range";
import { bind } from "../lib/statement";
import { address, hrefOf } from "../lib/store";
import { line, visible } from "../lib/text";
import { type SpanRow, lengthOf, longestOf, modelsOf } from "../lib/waterfall";
import { Hostile, Link, Time, VerdictChip, verdictOf } from "../ui/parts";
import { TextWithMark } from "../ui/message";
import { FaultBox } from "../ui/panel";
import { evidenceIn } from "./trace-evidence";
import C4b from "../../sql/C4b.sql";
import C23 from "../../sql/C23.sql";

const isCall = (row: SpanRow) => row.operation === "llm" || row.operation === "embedding";

function sum(rows: SpanRow[], pick: (row: SpanRow) => unknown): number | null {
  // Agents repeat what their calls counted: only calls of models are added up, where there are any.
  const calls = rows.filter(isCall);
  const known = (calls.length > 0 ? calls : rows).map((row) => numberOf(pick(row))).filter((n): n is number => n !== null);
  return known.length === 0 ? null : known.reduce((a, b) => a + b, 0);
}

const distinct = (values: Array<string | null | undefined>) => [...new Set(values.filter((v): v is string => Boolean(v)))];

export function TraceHead({ id, rows, scores }: { id: string; rows: SpanRow[]; scores: Row[] }) {
  const [total, longest] = useMemo(() => [lengthOf(rows), longestOf(rows)], [rows]);
  const extra = rows as Array<SpanRow & { session_id?: string | null; user_id?: string | null }>;
  const session = distinct(extra.map((row) => row.session_id))[0];
  const user = distinct(extra.map((row) => row.user_id))[0];
  return (
    <section aria-label="Summary" class="stack">
      <Asked id={id} scores={scores} />
      <dl class="tiles">
        <div><dt>Service</dt><dd class="clip"><Names column="service_name" names={distinct(rows.map((r) => r.service_name))} /></dd></div>
        <div><dt>Model</dt><dd class="clip"><Names column="request_model" names={modelsOf(rows)} /></dd></div>
        <div><dt>Began</dt><dd><small><Time at={rows[0]?.start_time} digits={3} /></small></dd></div>
        <div><dt>Duration</dt><dd><SpanLink span={longest?.span_id} title={longest && `The longest step: ${line(longest.name, 80)}`}>{duration(total)}</SpanLink></dd></div>
        <Used id={id} rows={rows} />
        <Verdicts rows={rows} scores={scores} />
        <Errors rows={rows} />
        {user && <div><dt>User</dt><dd class="clip"><small><Names column="user_id" names={[user]} /></small></dd></div>}
        {session && <div><dt>Session</dt><dd><Session id={id} session={session} /></dd></div>}
      </dl>
    </section>
  );
}

/** Tokens and cost lead to the spans that were added up. */
function Used({ id, rows }: { id: string; rows: SpanRow[] }) {
  const [input, output, usd] = [sum(rows, (row) => row.input_tokens), sum(rows, (row) => row.output_tokens), sum(rows, (row) => row.cost_usd)];
  const start = millis(rows[0]?.start_time ?? "");
  // A span is in a time range by its start.
  const times = stateOf(fixed({ from: start - 1000, to: start + lengthOf(rows) / 1e6 + 1000 }));
  const where = `${condition("trace_id", id, true)}${rows.some(isCall) ? " AND operation IN ('llm', 'embedding')" : ""}`;
  const to = (known: boolean, text: string) => (known ? <Link class="plain" href={hrefOf("explore", "", { ...times, where, cols: "service_name,name,request_model,duration_ns,tokens,cost_usd,status_code" })}>{text}</Link> : text);
  return (
    <>
      <div><dt>Tokens in / out</dt><dd>{to(input !== null || output !== null, `${count(input)} / ${count(output)}`)}</dd></div>
      <div><dt>Cost</dt><dd>{to(usd !== null, cost(usd))}</dd></div>
    </>
  );
}

/** The first name with a way to all spans that have it; the others by their number. */
function Names({ column, names }: { column: string; names: string[] }) {
  const [first, ...others] = names;
  if (first === undefined) return <>–</>;
  return (
    <>
      <Link href={hrefOf("explore", "", { where: condition(column, first, true) })} title={line(names.join(", "), 400)}>{line(first, 60)}</Link>
      {others.length > 0 && <small class="muted" title={line(others.join(", "), 400)}> +{others.length}<span class="hidden"> more</span></small>}
    </>
  );
}

/** Leads to a span of this trace, with what else the address says. */
function SpanLink({ span, title, children }: { span: string | undefined; title?: string | undefined; children: ComponentChildren }) {
  const { id, state } = address.value;
  return span === undefined ? <>{children}</> : <Link class="plain" href={hrefOf("trace", id, { ...state, span })} {...(title ? { title } : {})}>{children}</Link>;
}

function Verdicts({ rows, scores }: { rows: SpanRow[]; scores: Row[] }) {
  const judged = scores.filter((row) => verdictOf(row.status, row.passed) === "pass" || row.passed === false);
  const failed = judged.filter((row) => row.passed === false);
  const first = failed.find((row) => rows.some((each) => each.span_id === row.span_id));
  return (
    <div><dt>Verdicts</dt><dd>{judged.length === 0 ? "–" : failed.length === 0 ? <VerdictChip verdict="pass">all {judged.length}</VerdictChip>
      : <SpanLink span={first && String(first.span_id)}><VerdictChip verdict="fail">{failed.length} of {judged.length}</VerdictChip></SpanLink>}</dd></div>
  );
}

function Errors({ rows }: { rows: SpanRow[] }) {
  const failed = rows.filter((row) => row.status_code === "error");
  return <div><dt>Errors</dt><dd>{failed.length === 0 ? "0" : <SpanLink span={failed[0]?.span_id}><span class="bad">! {count(failed.length)}</span></SpanLink>}</dd></div>;
}

function Asked({ id, scores }: { id: string; scores: Row[] }) {
  const asked = useAsk(useMemo(() => bind(C4b, { id }), [id]));
  const rows = useMemo(() => (asked.data ? rowsOf(asked.data) : []), [asked.data]);
  const evidence = useMemo(() => evidenceIn(scores, rows), [scores, rows]);
  const { question, answer } = useMemo(() => {
    const first = rows.find((row) => row.question !== null);
    const own = rows.find((row) => row.question === first?.question && row.answer !== null);
    return { question: first?.question, answer: (own ?? [...rows].reverse().find((row) => row.answer !== null))?.answer };
  }, [rows]);
  if (asked.fault) return <FaultBox fault={asked.fault} retry={asked.retry} />;
  if (!question && !answer) return null;
  return (
    <div class="panel asked">
      <div><h3>Asked</h3><p class="text" tabIndex={0}><Hostile text={String(question ?? "–")} most={600} /></p></div>
      <div><h3>Answered</h3><TextWithMark text={String(answer ?? "–")} marks={evidence?.claims} /></div>
    </div>
  );
}

function Session({ id, session }: { id: string; session: string }) {
  const asked = useAsk(useMemo(() => bind(C23, { session }), [session]));
  const ids = asked.data ? rowsOf(asked.data).map((row) => String(row.trace_id)) : [];
  const at = ids.indexOf(id);
  const to = (index: number, text: string, name: string) => {
    const other = at >= 0 ? ids[index] : undefined;
    return other ? <Link href={hrefOf("trace", other)} aria-label={name}>{text}</Link> : <span class="muted" aria-hidden="true">{text}</span>;
  };
  return (
    <small class="nowrap" title={visible(session)}>
      {to(at - 1, "‹", "Trace before in this session")} {at >= 0 ? `${at + 1} of ${ids.length}${ids.length >= 500 ? "+" : ""}` : visible(session.slice(0, 16))}{" "}
      {to(at + 1, "›", "Next trace of this session")}
    </small>
  );
}
