// Two experiments compared: the differences with their intervals, then the items, regressions first.
import { useMemo, useState } from "preact/hooks";
import { rowsOf } from "../lib/api";
import { count } from "../lib/format";
import { useAsk, useExperiments, useJson } from "../lib/hooks";
import { type Comparison, type Experiment, type Moved, cellText, labPath, sideText } from "../lib/lab";
import { type Bound, bind } from "../lib/statement";
import { address, hrefOf, setState, tenant } from "../lib/store";
import { line, visible } from "../lib/text";
import { Empty, Panel } from "../ui/panel";
import { Link } from "../ui/parts";
import { Costs } from "./lab-costs";
import { DifferenceCells, DifferenceHeads, PartDifferences } from "./lab-difference";
import { Only, narrowed } from "./lab-narrowed";
import { PartsPicker } from "./lab-parts";
import { SeveralCompared } from "./lab-several";
import { BothSides } from "./lab-sides";
import C34 from "../../sql/C34.sql";

interface Named {
  experiment_id: string;
  name: string;
}

interface Answer {
  new: Named;
  baseline: Named;
  comparison: Comparison;
  dimensions: string[];
}

export function Compare() {
  return address.value.state.experiments ? <SeveralCompared /> : <TwoCompared />;
}

function TwoCompared() {
  const { new: wanted = "", baseline = "", slice = "" } = address.value.state;
  const list = useExperiments();
  const all = list.data?.experiments ?? [];
  // Without a choice the newest that is no baseline is compared.
  const chosen = wanted || (all.find((each) => !each.baseline)?.experiment_id ?? "");
  const asked = useJson<Answer>(chosen === "" ? null : labPath("compare", { new: chosen, ...(baseline ? { baseline } : {}), ...(slice ? { slice } : {}) }, tenant.value));
  return (
    <>
      <Panel title="What is compared" asked={list}>
        {({ more }) => (all.length < 2
          ? <Empty title="Two experiments are needed"><p>On the same dataset; <Link href={hrefOf("lab", "experiments")}>experiments</Link> says how one is made.</p></Empty>
          : <Pick all={all} chosen={chosen} baseline={baseline || (asked.data?.baseline.experiment_id ?? "")} more={more} />)}
      </Panel>
      {chosen !== "" && all.length > 1 && (
        <>
          <Panel title="Differences" sub="new minus baseline, over the pairs; 95 % interval" asked={asked} tools={<PartsPicker dimensions={asked.data?.dimensions ?? []} />} flush>
            {({ comparison, new: after, baseline: before }) => (
              <>
                <Differences of={comparison} pair={{ after: after.experiment_id, baseline: before.experiment_id }} />
                {slice !== "" && <PartDifferences all={[{ slices: comparison.slices }]} leftOut={comparison.slices_left_out} />}
              </>
            )}
          </Panel>
          {asked.data && <Costs baseline={asked.data.baseline.experiment_id} after={asked.data.new.experiment_id} />}
          <Panel title="Items" sub="regressions first" asked={asked} flush>{(answer) => <Items answer={answer} />}</Panel>
        </>
      )}
    </>
  );
}

function Pick({ all, chosen, baseline, more }: { all: Experiment[]; chosen: string; baseline: string; more: boolean }) {
  const same = all.find((each) => each.experiment_id === chosen)?.dataset_id;
  const others = all.filter((each) => each.dataset_id === same && each.experiment_id !== chosen);
  return (
    <div class="row">
      <label class="row small">New
        <select value={chosen} onChange={(event) => setState({ new: event.currentTarget.value, baseline: "" })}>
          {all.map((each) => <option key={each.experiment_id} value={each.experiment_id}>{visible(each.name)}</option>)}
        </select>
      </label>
      <label class="row small">against
        <select value={baseline} onChange={(event) => setState({ new: chosen, baseline: event.currentTarget.value })}>
          {baseline === "" && <option value="">…</option>}
          {others.map((each) => <option key={each.experiment_id} value={each.experiment_id}>{visible(each.name)}{each.baseline ? " (baseline)" : ""}</option>)}
        </select>
      </label>
      {more && <span class="muted small">The newest {count(all.length)} are listed; <Link href={hrefOf("lab", "experiments")}>experiments</Link> has all.</span>}
    </div>
  );
}

function Differences({ of: { metrics, paired, unpaired }, pair }: { of: Comparison; pair: { after: string; baseline: string } }) {
  return (
    <>
      <p class="padded-line muted small">
        {count(paired)} items have a pair{unpaired > 0 && <>; {count(unpaired)} have none, because only one was asked them or they have changed</>}.
      </p>
      {metrics.length === 0 ? <p class="empty">No metric is known of both.</p> : (
        <div class="scroll" tabIndex={0} role="group" aria-label="Differences by metric">
          <table class="quality">
            <thead><tr><DifferenceHeads /></tr></thead>
            <tbody>{metrics.map((each) => <tr key={each.evaluator + each.metric}><DifferenceCells each={each} of={pair} /></tr>)}</tbody>
          </table>
        </div>
      )}
    </>
  );
}

const KINDS: Record<string, [string, string, string]> = {
  regression: ["↓", "bad", "Regressions"], error: ["!", "warn", "No answer now"], improvement: ["↑", "good", "Improvements"],
};

/** Items that are shown at first of each kind. */
const FIRST = 50;

/** What the first items ask, by their ids: a row without it shows its id. */
function useQuestions(items: Moved[]): [Map<string, string>, boolean] {
  const first = ["regression", "error", "improvement"].flatMap((kind) => items.filter((item) => item.kind === kind).slice(0, FIRST));
  const ids = first.map((item) => item.item_id).filter((id) => /^[0-9A-Za-z-]{1,64}$/.test(id)).map((id) => `'${id}'`).join(", ");
  const asked = useAsk(useMemo((): Bound | null => (ids === "" ? null : bind(C34, {}, { ids })), [ids]));
  const known = useMemo(() => new Map((asked.data ? rowsOf(asked.data) : []).map((row) => [String(row.item_id), cellText(row.input)])), [asked.data]);
  return [known, ids !== "" && asked.data === undefined && !asked.fault];
}

function Items({ answer: { comparison, new: after, baseline } }: { answer: Answer }) {
  const { unchanged } = comparison;
  const only = narrowed();
  const items = only ? comparison.items.filter((item) => item.metrics.some((each) => each.metric === only.metric && (only.evaluator === "" || each.evaluator === only.evaluator))) : comparison.items;
  const [more, setMore] = useState(false);
  const [questions, busy] = useQuestions(items);
  return (
    <div class="items" aria-busy={busy}>
      {only && <Only key={only.metric + only.evaluator} to={only} says="those that moved in" />}
      {["regression", "error", "improvement"].map((kind) => {
        const of = items.filter((item) => item.kind === kind);
        if (of.length === 0) return null;
        const [sign, tone, title] = KINDS[kind] as [string, string, string];
        return (
          <section key={kind} aria-label={title}>
            <h3 class="padded-line"><span class={tone} aria-hidden="true">{sign}</span> {title} {count(of.length)}</h3>
            {of.slice(0, more ? undefined : FIRST).map((item) => <ItemRow key={item.item_id} item={item} question={questions.get(item.item_id) ?? ""} after={after} baseline={baseline} />)}
            {!more && of.length > FIRST && <p class="padded-line"><button type="button" onClick={() => setMore(true)}>{count(of.length - FIRST)} more</button></p>}
          </section>
        );
      })}
      {items.length === 0 && <p class="empty">No item moved.</p>}
      <p class="padded-line muted small">{count(unchanged)} {unchanged === 1 ? "item has" : "items have"} no metric that moved.{comparison.items.length >= 1000 && " The first 1,000 that moved are listed."}</p>
    </div>
  );
}

/** Both answers are asked when it is opened: a comparison of a thousand items asks nothing for them. */
function ItemRow({ item, question, after, baseline }: { item: Moved; question: string; after: Named; baseline: Named }) {
  const open = address.value.state.item === item.item_id;
  return (
    <details class="moved" open={open}>
      <summary onClick={(event) => {
        event.preventDefault();
        setState({ item: open ? "" : item.item_id }, true);
      }}>
        {question === "" ? <span class="mono">{item.item_id.slice(-8)}</span> : line(question, 120)}{" "}
        {item.metrics.map((each) => (
          <span key={each.evaluator + each.metric} class="chip outline">{line(each.metric, 40)} {sideText(each.baseline)} → {sideText(each.new)}</span>
        ))}
      </summary>
      {open && <BothSides item={item.item_id} after={after} baseline={baseline} />}
    </details>
  );
}
