// One metric: its rate, the rate that marks would give, the distribution with a threshold to try, the items.
import { useMemo } from "preact/hooks";
import { type Row, rowsOf } from "../lib/api";
import { faultOf } from "../lib/filter";
import { count, numberOf, value } from "../lib/format";
import { type Asked, useAsk, withoutWrong } from "../lib/hooks";
import { nearest } from "../lib/nearest";
import { fixed, stepOf } from "../lib/range";
import { type Bound, type Value, bind } from "../lib/statement";
import { address, hrefOf, setState, span } from "../lib/store";
import { visible } from "../lib/text";
import { FilterBar } from "../ui/filter-bar";
import { Empty, Panel } from "../ui/panel";
import { Hostile, Interval, Link, Time } from "../ui/parts";
import { Top } from "../ui/shell";
import { Distribution } from "./scores-distribution";
import { Items } from "./scores-items";
import { Slices } from "./scores-slices";
import { Trend } from "./scores-trend";
import C12s from "../../sql/C12s.sql";
import C38 from "../../sql/C38.sql";
import C13c from "../../sql/C13c.sql";

export interface Scope {
  evaluator: string;
  metric: string;
  from: string;
  to: string;
  /** A checked expression over scores. */
  where: string;
}

export function bindIn(scope: Scope, text: string, more: Record<string, Value> = {}, raw: Record<string, string> = {}): Bound {
  const { evaluator, metric, from, to, where } = scope;
  return bind(text, { evaluator, metric, from, to, ...more }, { where, ...raw });
}

export function MetricPage({ metric, evaluator }: { metric: string; evaluator: string }) {
  const { from, to } = fixed(span.value);
  const given = (address.value.state.where ?? "").trim();
  const where = given === "" || faultOf(given) ? "true" : given;
  const scope = useMemo(() => ({ metric, evaluator, from, to, where }), [metric, evaluator, from, to, where]);
  const step = stepOf(span.value, 150);
  // The whole, its buckets and its slices come by one statement: it is one scan of the scores.
  const bound = useMemo(() => bindIn(scope, C12s, { step: step.sql }), [scope, step.sql]);
  const asked = useAsk(bound);
  const rows = useMemo(() => (asked.data ? rowsOf(asked.data) : []), [asked.data]);
  const row = rows.find((each) => each.part === "all");
  const judged = numberOf(row?.judged) ?? 0;
  return (
    <>
      <Top title={<><Link href={hrefOf("scores")}>Scores</Link> / {visible(metric)}</>} />
      <main id="main" tabIndex={-1}>
        <FilterBar where={given} fault={asked.fault} table="scores" label="Filter: a SQL expression over scores" hint="service_name = 'shop' AND value < 0.5"
          change={(next) => setState({ where: next, item: "" })} />
        <Summary asked={asked} bound={bound} row={row} scope={scope} />
        {row && judged === 0 && !address.value.state.show && <Nothing row={row} />}
        {row && judged > 0 && (
          <div class="two">
            <Trend scope={scope} row={row} rows={rows} asked={asked} bound={bound} step={step} />
            <Distribution scope={scope} row={row} />
          </div>
        )}
        {row && judged > 0 && <Slices scope={scope} rows={rows} asked={asked} bound={bound} />}
        {row && (judged > 0 || address.value.state.show) && <Items scope={scope} up={isUp(row)} />}
      </main>
    </>
  );
}

/** Whether higher values are better, as verdicts and threshold tell; most metrics are so. */
export function isUp(row: Row): boolean {
  return (numberOf(row.agree) ?? 1) >= 0;
}

/** This page with the items of another status. */
function shown(scope: Scope, show: string): string {
  return hrefOf("scores", scope.metric, { ...address.value.state, show });
}

function Summary({ asked, bound, row, scope }: { asked: Asked<unknown>; bound: Bound; row: Row | undefined; scope: Scope }) {
  const corrected = useMemo(() => bindIn(scope, C13c), [scope]);
  const marks = withoutWrong(useAsk(corrected));
  const labels = marks.data ? rowsOf(marks.data)[0] : undefined;
  return (
    <Panel title="As a whole" sub={scope.evaluator ? `evaluator ${visible(scope.evaluator)}` : "of every evaluator that gives it"} asked={asked} bound={[bound, corrected]}>
      {() => row && (
        <dl class="tiles">
          <div><dt>Share that passes, by the evaluator</dt><dd class="plain"><Interval estimate={numberOf(row.estimate)} lower={numberOf(row.lower)} upper={numberOf(row.upper)} n={numberOf(row.n)} /></dd></div>
          <div><dt>Corrected by marks</dt><dd class="plain">{marks.fault ? <span class="bad small">{visible(marks.fault.message.slice(0, 120))}</span> : <Corrected labels={labels} />}</dd></div>
          <div><dt>Mean value</dt><dd class="plain"><Interval estimate={numberOf(row.mean)} lower={numberOf(row.mean_lower)} upper={numberOf(row.mean_upper)} n={numberOf(row.mean_n)} /></dd></div>
          <div><dt>Threshold</dt><dd class="plain">{row.threshold === null ? "none" : `${isUp(row) ? "≥" : "≤"} ${value(numberOf(row.threshold))}`}</dd></div>
          <div><dt>Not judged</dt><dd class="plain"><Link class="plain" href={shown(scope, "skipped")}>{count(numberOf(row.skipped))} skipped</Link>{(numberOf(row.errors) ?? 0) > 0 && <>, <Link class="bad" href={shown(scope, "errors")}>! {count(numberOf(row.errors))} errors</Link></>}
            {row.error !== null && <p class="small bad text"><Hostile text={String(row.error)} most={300} /> since <Time at={String(row.error_since)} /></p>}</dd></div>
        </dl>
      )}
    </Panel>
  );
}

function Corrected({ labels }: { labels: Row | undefined }) {
  if (!labels) return <span class="muted">–</span>;
  const [k, all, agreed] = [numberOf(labels.k) ?? 0, numberOf(labels.marks) ?? 0, numberOf(labels.agreed) ?? 0];
  if (all === 0) return <span class="muted">no mark yet</span>;
  return (
    <>
      <Interval estimate={numberOf(labels.estimate)} lower={numberOf(labels.lower)} upper={numberOf(labels.upper)} n={k} />
      <p class="small muted">evaluator right in {count(agreed)} of {count(all)} marks{k < all ? `; ${count(k)} of them are at random and count` : ""}</p>
    </>
  );
}

/** Nothing was judged: the missing input, and what would bring it. */
const BRINGS: Record<string, string> = {
  contexts: "documents on a retrieval span, such as retrieval.documents.0.document.content or gen_ai.retrieval.documents",
  question: "input messages on an LLM span, such as gen_ai.input.messages or llm.input_messages",
  answer: "output messages on an LLM span, such as gen_ai.output.messages or llm.output_messages",
  constraints: "the evaluator's own settings: it has nothing to compare with",
};

/** A metric that nothing has: names that may be meant. */
function Meant({ metric }: { metric: string }) {
  const asked = useAsk(useMemo(() => bind(C38, {}), []));
  const names = (asked.data ? rowsOf(asked.data) : []).map((row) => String(row.metric));
  if (!asked.data || names.includes(metric)) return null;
  const near = nearest(metric, names);
  return (
    <p>No score has ever had this metric.{near.length > 0 && " Is one of these meant? "}
      {near.map((name) => <><Link key={name} href={hrefOf("scores", name)}>{visible(name)}</Link> </>)}</p>
  );
}

function Nothing({ row }: { row: Row }) {
  const missing = row.missing === null ? "" : String(row.missing);
  const skipped = numberOf(row.skipped) ?? 0;
  return (
    <section class="panel">
      <Empty title={skipped > 0 ? `All ${count(skipped)} items were skipped` : "No item was drawn in this time range"}>
        {skipped > 0 && <p><Link href={hrefOf("scores", address.value.id, { ...address.value.state, show: "skipped" })}>Which they are</Link></p>}
        {missing !== "" && <p>Missing: <code>{visible(missing)}</code>. {BRINGS[missing] ? `What brings it: ${BRINGS[missing]}.` : ""}</p>}
        {skipped === 0 && <Meant metric={address.value.id} />}
        {skipped === 0 && <p>What was decided about the traces: <Link href={hrefOf("sampling")}>Sampling</Link>.</p>}
      </Empty>
    </section>
  );
}
