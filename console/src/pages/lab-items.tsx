// The runs of an experiment: what was asked and answered, and every score of each, with its reason.
import { useMemo } from "preact/hooks";
import { type Row, rowsOf } from "../lib/api";
import { numberOf, value } from "../lib/format";
import { useAsk } from "../lib/hooks";
import { cellText } from "../lib/lab";
import { type Bound, bind } from "../lib/statement";
import { address, setState } from "../lib/store";
import { line } from "../lib/text";
import { FaultBox, Panel } from "../ui/panel";
import { Hostile, TraceLink, VerdictChip, verdictOf } from "../ui/parts";
import { Only, narrowed } from "./lab-narrowed";
import C32 from "../../sql/C32.sql";
import C33 from "../../sql/C33.sql";
import C34 from "../../sql/C34.sql";

/** Scores on a line; the others stand below it. */
const CHIPS = 6;

/** What the address shows beside what was judged, and how it is called. */
const STATUS: Record<string, string> = { errors: "error", skipped: "skipped" };
const WORDS: Record<string, string> = { errors: "an error", skipped: "a skipped score" };

/** The scores of the metric that is looked at stand first on their lines. */
function chosenFirst(scores: Row[], metric: string): Row[] {
  return metric === "" ? scores : [...scores].sort((a, b) => Number(b.metric === metric) - Number(a.metric === metric));
}

export function Runs({ experiment }: { experiment: string }) {
  const { item = "", show = "" } = address.value.state;
  const only = narrowed();
  const status = STATUS[show] ?? "";
  // A run that is opened here must not ask for another order.
  const first = useMemo(() => item, [experiment]);
  const [metric, evaluator] = [only?.metric ?? "", only?.evaluator ?? ""];
  const bound = useMemo(() => bind(C32, { experiment, item: first, metric, evaluator, status: only ? status : "" }), [experiment, first, metric, evaluator, status]);
  const asked = useAsk(bound);
  const rows = useMemo(() => (asked.data ? rowsOf(asked.data) : []), [asked.data]);
  const ids = [...new Set(rows.map((row) => String(row.item_id)))].filter((id) => /^[0-9A-Za-z-]{1,64}$/.test(id)).map((id) => `'${id}'`).join(", ");
  const more = useMemo((): [Bound, Bound] | [null, null] => (ids === "" ? [null, null] : [bind(C33, { experiment }, { ids }), bind(C34, {}, { ids })]), [ids, experiment]);
  const scores = useAsk(more[0]);
  const items = useAsk(more[1]);
  const fault = scores.fault ?? items.fault;
  const shown = useMemo(() => chosenFirst(scores.data ? rowsOf(scores.data) : [], metric), [scores.data, metric]);
  const asks = useMemo(() => (items.data ? rowsOf(items.data) : []), [items.data]);
  return (
    <Panel title="Runs" sub={rows.length < 50 ? "what failed first" : "the first 50 of what failed"} asked={asked} bound={[bound, ...more.filter((each): each is Bound => each !== null)]} flush>
      {() => (
        <div class="items" aria-busy={ids !== "" && (scores.data === undefined || items.data === undefined) && !fault}>
          {fault && <FaultBox fault={fault} retry={() => [scores, items].forEach((each) => each.retry())} />}
          {only && <Only key={metric + evaluator + show} to={only} says={`those with ${WORDS[show] ?? "a score"} of`} />}
          {rows.length === 0 && <p class="empty">{only ? "There is none." : "No run has come yet."}</p>}
          {rows.map((row) => (
            <Run key={String(row.run_id)} row={row} open={item === row.item_id} asks={asks.find((each) => each.item_id === row.item_id && each.content_hash === row.item_hash)}
              scores={shown.filter((each) => each.run_id === row.run_id && Number(each.score_version) === Number(row.attempt))} />
          ))}
        </div>
      )}
    </Panel>
  );
}

function Chip({ score }: { score: Row }) {
  const said = score.label === null ? value(numberOf(score.value)) : line(String(score.label), 20);
  return <VerdictChip verdict={verdictOf(score.status, score.passed)}>{line(String(score.metric), 30)}{score.status === "ok" && ` ${said}`}</VerdictChip>;
}

function Run({ row, open, asks, scores }: { row: Row; open: boolean; asks: Row | undefined; scores: Row[] }) {
  const question = cellText(asks?.input) || String(row.item_id);
  return (
    <details class="moved" open={open}>
      <summary onClick={(event) => {
        event.preventDefault();
        setState({ item: open ? "" : String(row.item_id) }, true);
      }}>
        {row.error !== null && <VerdictChip verdict="error">no answer</VerdictChip>}{" "}
        {line(question, 120)}{Number(row.repetition) > 1 && `, time ${String(row.repetition)}`}
        {scores.slice(0, CHIPS).map((each, at) => <Chip key={at} score={each} />)}
        {scores.length > CHIPS && <span class="chip outline">{scores.length - CHIPS} more</span>}
      </summary>
      {open && <Opened row={row} asks={asks} scores={scores} />}
    </details>
  );
}

function Opened({ row, asks, scores }: { row: Row; asks: Row | undefined; scores: Row[] }) {
  return (
    <div class="stack sides">
      <dl class="kv">
        <dt>Asked</dt><dd class="text"><Hostile text={cellText(asks?.input)} most={2000} /></dd>
        <dt>Expected</dt><dd class="text"><Hostile text={cellText(asks?.expected) || "–"} most={2000} /></dd>
        <dt>Answered</dt><dd class="text">{row.error === null ? <Hostile text={cellText(row.output)} most={4000} /> : <span class="bad"><Hostile text={String(row.error)} most={2000} /></span>}</dd>
        <dt>Trace</dt><dd>{row.trace_id ? <TraceLink id={String(row.trace_id)} span={row.span_id ? String(row.span_id) : null} /> : "–"}</dd>
      </dl>
      <ul class="stack" aria-label="Scores">
        {scores.map((each, at) => (
          <li key={at} class="small"><Chip score={each} /> <span class="muted">{line(String(each.evaluator), 40)}</span>{" "}
            <Hostile text={String(each.rationale ?? each.error ?? "")} most={600} /></li>
        ))}
      </ul>
    </div>
  );
}
