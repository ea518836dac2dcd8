// Experiments: the list, and of one what came of it, with errors apart from failures.
import { useState } from "preact/hooks";
import { count, interval, seconds, within } from "../lib/format";
import { useJson } from "../lib/hooks";
import { variantOf, variantsText } from "../lib/playground";
import { type Experiment, type SliceSummary, type Summary, labPath } from "../lib/lab";
import { type ListPage, fits, flipped, idsOf } from "../lib/several";
import { address, hrefOf, refresh, setState, tenant } from "../lib/store";
import { line, visible } from "../lib/text";
import { useWalk } from "../lib/walk";
import { Empty, Panel } from "../ui/panel";
import { Hostile, Interval, Link, Meter, Time } from "../ui/parts";
import { Findings } from "./lab-findings";
import { Runs } from "./lab-items";
import { RunsLink } from "./lab-narrowed";
import { PartSummaries, PartsPicker } from "./lab-parts";
import { Progress } from "./lab-save";

const SIGNS: Record<string, [string, string]> = {
  success: ["✓", "good"], error: ["!", "bad"], cancelled: ["–", ""], running: ["…", "warn"], pending: ["…", ""], paused: ["‖", "warn"],
};

export function Experiments() {
  const { experiment = "", after = "" } = address.value.state;
  const asked = useJson<ListPage>(labPath("experiments", { limit: "100", ...(after ? { after } : {}) }, tenant.value));
  useWalk();
  return (
    <>
      {experiment !== "" && <Shown key={experiment} id={experiment} />}
      {experiment !== "" && <Findings key={`findings ${experiment}`} id={experiment} />}
      {experiment !== "" && <Runs key={`runs ${experiment}`} experiment={experiment} />}
      <Panel title="Experiments" sub={after ? "older ones, the newest of them first" : "the newest first"} asked={asked} tools={<Together />} flush>
        {({ experiments, next }) => (
          <>
            {experiments.length > 0 ? <Table all={experiments} /> : after ? <p class="empty">There are no older ones.</p> : <None />}
            <Pages after={after} next={next} />
          </>
        )}
      </Panel>
    </>
  );
}

/** The next page begins behind the last of this one, which its address names. */
function Pages({ after, next }: { after: string; next: string | null }) {
  if (!after && !next) return null;
  const { after: _, ...rest } = address.value.state;
  return (
    <nav class="row padded-line" aria-label="Pages of experiments">
      {after && <Link class="button" href={hrefOf("lab", "experiments", rest)}>Newest</Link>}
      {next && <Link class="button" href={hrefOf("lab", "experiments", { ...rest, after: next })}>Older</Link>}
    </nav>
  );
}

/** What is chosen stays so from page to page. */
function Together() {
  const { beside = "" } = address.value.state;
  const many = idsOf(beside).length;
  if (many < 2) return <span class="muted small">Choose two or more to compare them with one baseline</span>;
  return (
    <>
      <button type="button" class="quiet" onClick={() => setState({ beside: "" }, true)}>Choose none</button>
      <Link class="button" href={hrefOf("lab", "compare", { experiments: idsOf(beside).join(",") })}>Compare {count(many)} together</Link>
    </>
  );
}

function None() {
  return (
    <Empty title="There is no experiment yet">
      <p>An experiment asks a target every item of a dataset. The command line asks, the server judges:</p>
      <pre class="code">groundline experiment run v1 --dataset NAME --http http://127.0.0.1:8000/answer --evaluator rouge --baseline</pre>
    </Empty>
  );
}

function Status({ status }: { status: string }) {
  const [sign, tone] = SIGNS[status] ?? ["·", ""];
  return <span class={`chip ${tone}`}><span aria-hidden="true">{sign}</span>{visible(status)}</span>;
}

function Table({ all }: { all: Experiment[] }) {
  const { beside = "", after = "" } = address.value.state;
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="All experiments" data-walk>
      <table class="quality">
        <thead><tr>
          <th scope="col">State</th><th scope="col">Experiment</th><th scope="col">Target</th><th scope="col" class="num">Version</th><th scope="col" class="num">Times</th><th scope="col">Changed</th><th scope="col">Compare</th><th scope="col">Together</th>
        </tr></thead>
        <tbody>{all.map((each) => (
          <tr key={each.experiment_id}>
            <td><Status status={each.status} /></td>
            <td><span class="named"><Link href={hrefOf("lab", "experiments", { experiment: each.experiment_id, after, beside })}>{line(each.name, 60)}</Link>{each.baseline && <span class="chip outline">baseline</span>}</span></td>
            <td>{line([each.target.kind, each.target.name ?? each.target.model ?? ""].filter(Boolean).join(" "), 60)}</td>
            <td class="num">{each.dataset_version}</td><td class="num">{each.repetitions}</td><td><Time at={each.changed_at} /></td>
            <td><Link href={hrefOf("lab", "compare", { new: each.experiment_id })}>with the baseline</Link></td>
            <td><input type="checkbox" aria-label={`Compare ${visible(each.name)} with others`} title={fits(all, idsOf(beside), each) ? "" : "Of another dataset, or one too many"} disabled={!fits(all, idsOf(beside), each)}
              checked={idsOf(beside).includes(each.experiment_id)} onChange={() => setState({ beside: flipped(beside, each.experiment_id) }, true)} /></td>
          </tr>
        ))}</tbody>
      </table>
    </div>
  );
}

interface Told {
  experiment: Experiment;
  summary: Summary;
  evaluators_gone?: string[];
  dimensions?: string[];
  slices?: SliceSummary[];
  slices_left_out?: number;
}

function Shown({ id }: { id: string }) {
  const { slice = "" } = address.value.state;
  const asked = useJson<Told>(labPath(`experiments/${encodeURIComponent(id)}/summary`, slice ? { slice } : {}, tenant.value));
  const name = asked.data?.experiment.name ?? id;
  const target = asked.data?.experiment.target;
  const isNamed = target?.name !== undefined && (target.kind === "openai" || target.kind === "http");
  const tools = (
    <>
      <PartsPicker dimensions={asked.data?.dimensions ?? []} />
      {isNamed && <Link class="button" href={hrefOf("lab", "playground", { v: variantsText([variantOf(target, asked.data?.experiment.parameters)]) })}>Open in the playground</Link>}
      <Link class="button" href={hrefOf("lab", "compare", { new: id })}>Compare</Link>
    </>
  );
  return (
    <Panel title={`Experiment ${visible(name).slice(0, 60)}`} asked={asked} tools={tools}>
      {({ experiment, summary, evaluators_gone: gone, slices, slices_left_out: leftOut }) => (
        <div class="stack">
          <Result experiment={experiment} summary={summary} gone={gone ?? []} />
          {slice !== "" && slices && <PartSummaries slices={slices} leftOut={leftOut ?? 0} />}
        </div>
      )}
    </Panel>
  );
}

/** A target of the server's configuration can be asked from here. */
function Missing({ id, missing }: { id: string; missing: number }) {
  const [asks, setAsks] = useState(false);
  return asks ? <Progress made={{ id, runs: missing }} then={refresh} /> : <div><button type="button" onClick={() => setAsks(true)}>Ask the {count(missing)} that {missing === 1 ? "is" : "are"} missing</button></div>;
}

function Result({ experiment, summary, gone }: { experiment: Experiment; summary: Summary; gone: string[] }) {
  const { done, runs, errors, metrics } = summary;
  return (
    <div class="stack">
      <div class="row">
        <Status status={experiment.status} /><Meter share={runs === 0 ? 0 : done / runs} />
        <span>{count(done)} of {count(runs)} runs of {count(summary.items)} items{errors > 0 && <>, <strong class="bad">{count(errors)} without an answer</strong></>}</span>
        {summary.duration_ms && <span class="muted">{within(summary.duration_ms, (ms) => seconds(ms / 1e3))}, time of a run</span>}
      </div>
      {experiment.error && <p class="bad">{visible(experiment.error)}</p>}
      {gone.length > 0 && <p class="bad">This server has no {line(gone.join(", "), 200)} any more: what was said stands, and no run is taken until it is back.</p>}
      {experiment.target.prompt !== undefined && <details class="fold"><summary>Prompt</summary><pre class="code"><Hostile text={experiment.target.prompt} /></pre></details>}
      {done < runs && experiment.target.name && experiment.status !== "cancelled" && <Missing id={experiment.experiment_id} missing={runs - done} />}
      {metrics.length === 0 ? <p class="muted">No score yet.</p> : (
        <div class="scroll" tabIndex={0} role="group" aria-label="Metrics">
          <table class="quality">
            <thead><tr><th scope="col">Metric</th><th scope="col">Share that passes</th><th scope="col">Mean value</th><th scope="col" class="num">Errors</th><th scope="col" class="num">Skipped</th></tr></thead>
            <tbody>{metrics.map((each) => (
              <tr key={each.evaluator + each.metric}>
                <td>{line(each.metric, 60)} <span class="muted">{line(each.evaluator, 60)}</span></td>
                <td>{each.passed ? <RunsLink experiment={experiment.experiment_id} each={each}><span class="named"><Interval whisker {...each.passed} /></span></RunsLink> : <span class="muted">no verdicts</span>}</td>
                <td>{each.value ? <RunsLink experiment={experiment.experiment_id} each={each}>{interval(each.value)}</RunsLink> : "–"}</td>
                <td class="num">{each.errors > 0 ? <RunsLink experiment={experiment.experiment_id} each={each} show="errors" class="bad">! {count(each.errors)}</RunsLink> : "0"}</td>
                <td class="num">{each.skipped > 0 ? <RunsLink experiment={experiment.experiment_id} each={each} show="skipped">{count(each.skipped)}</RunsLink> : "0"}</td>
              </tr>
            ))}</tbody>
          </table>
        </div>
      )}
    </div>
  );
}
