// Several experiments against one baseline: each estimate with its interval, and whether it is better or worse.
import { count, interval } from "../lib/format";
import { useJson } from "../lib/hooks";
import { labPath } from "../lib/lab";
import { type Against, type Several, type SeveralCell, type Standing, beside, cellOf, idsOf, metricsOf } from "../lib/several";
import { address, hrefOf, setState, tenant } from "../lib/store";
import { line, visible } from "../lib/text";
import { useWalk } from "../lib/walk";
import { Panel } from "../ui/panel";
import { Link } from "../ui/parts";
import { Apart, PartDifferences, VerdictOf } from "./lab-difference";
import { MovedLink, RunsLink } from "./lab-narrowed";
import { PartsPicker } from "./lab-parts";

export function SeveralCompared() {
  const { experiments = "", baseline = "", slice = "" } = address.value.state;
  const params = { experiments: idsOf(experiments).join(","), ...(baseline ? { baseline } : {}), ...(slice ? { slice } : {}) };
  const asked = useJson<Several>(labPath("compare", params, tenant.value));
  useWalk();
  const tools = (
    <>
      <PartsPicker dimensions={asked.data?.dimensions ?? []} />
      {asked.data && <BaselinePicker of={asked.data} named={idsOf(experiments)} />}
      <Link class="button" href={hrefOf("lab", "experiments", { beside: experiments })}>Choose others</Link>
    </>
  );
  return (
    <Panel title="Against one baseline" sub="95 % intervals; all p-values are adjusted together" asked={asked} tools={tools} flush>
      {(several) => (
        <>
          <Table of={several} />
          {slice !== "" && <PartDifferences all={several.experiments} leftOut={Math.max(0, ...several.experiments.map((each) => each.slices_left_out))} />}
        </>
      )}
    </Panel>
  );
}

/** Another one becomes the baseline; the one that was it stays in the table. */
function BaselinePicker({ of: { baseline, experiments }, named }: { of: Several; named: string[] }) {
  const choose = (id: string) => setState({ baseline: id, experiments: beside(named, baseline.experiment_id, id).join(",") });
  return (
    <label class="row small">Baseline
      <select value={baseline.experiment_id} onChange={(event) => choose(event.currentTarget.value)}>
        {[baseline, ...experiments].map((each) => <option key={each.experiment_id} value={each.experiment_id}>{visible(each.name)}</option>)}
      </select>
    </label>
  );
}

function Table({ of: several }: { of: Several }) {
  const metrics = metricsOf(several);
  const { baseline, experiments } = several;
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Estimates and verdicts" data-walk>
      <table class="quality several">
        <thead><tr>
          <th scope="col">Experiment</th><th scope="col" class="num">Pairs</th>
          {metrics.map((each) => (
            <th key={each.evaluator + each.metric} scope="col">{line(each.metric, 40)}{each.metric !== each.evaluator && <> <span class="muted">{line(each.evaluator, 30)}</span></>}
              <div class="muted">{each.measure === "pass_rate" ? "share that passes" : "mean value"}</div></th>
          ))}
          <th scope="col">Compare</th><th scope="col" class="num">No answer</th>
        </tr></thead>
        <tbody>
          <Row one={baseline} metrics={metrics} />
          {experiments.map((each) => <Row key={each.experiment_id} one={each} metrics={metrics} against={baseline} />)}
        </tbody>
      </table>
    </div>
  );
}

function Row({ one, metrics, against }: { one: Standing | Against; metrics: SeveralCell[]; against?: Standing }) {
  return (
    <tr>
      <th scope="row"><span class="named"><Link href={hrefOf("lab", "experiments", { experiment: one.experiment_id })}>{line(one.name, 50)}</Link>{!against && <span class="chip outline">baseline</span>}</span></th>
      <td class="num">{"paired" in one ? count(one.paired) : "–"}{"unpaired" in one && one.unpaired > 0 && <div class="muted small">{count(one.unpaired)} without</div>}</td>
      {metrics.map((metric) => <Cell key={metric.evaluator + metric.metric} cell={cellOf(one, metric)} of={one.experiment_id} against={against?.experiment_id} />)}
      <td>{against && <Link href={hrefOf("lab", "compare", { new: one.experiment_id, baseline: against.experiment_id })}>item by item</Link>}</td>
      <td class="num">{one.errors > 0 ? <Link class="bad" href={hrefOf("lab", "experiments", { experiment: one.experiment_id })}>! {count(one.errors)}</Link> : "0"}</td>
    </tr>
  );
}

function Cell({ cell, of, against }: { cell: SeveralCell | undefined; of: string; against: string | undefined }) {
  if (!cell?.estimate) return <td class="muted">no score</td>;
  return (
    <td>
      <RunsLink experiment={of} each={cell}>{interval(cell.estimate)}</RunsLink>
      {cell.difference && against !== undefined && <div class="small"><MovedLink after={of} baseline={against} each={cell}><Apart each={cell.difference} /></MovedLink> <VerdictOf each={cell.difference} /></div>}
      {against !== undefined && !cell.difference && <div class="muted small">no pair has it</div>}
    </td>
  );
}
