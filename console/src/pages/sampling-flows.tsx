// The way of traces through each rule, as nested bars: seen, what was left out and why, taken, what became of it.
import { count, value } from "../lib/format";
import { type Flow, type Step, type Stratum, mostlyLost, tracesOf } from "../lib/flow";
import { hrefOf } from "../lib/store";
import { visible } from "../lib/text";
import { Link } from "../ui/parts";

const WORDS: Record<string, { word: string; tone: string }> = {
  filtered: { word: "filtered out", tone: "rest" }, not_sampled: { word: "not drawn", tone: "rest" },
  throttled: { word: "throttled", tone: "lost" }, over_budget: { word: "over budget", tone: "lost" },
  queued: { word: "taken", tone: "taken" }, scored: { word: "scored", tone: "taken" }, expired: { word: "expired", tone: "lost" },
  failed: { word: "failed", tone: "lost" }, waiting: { word: "waiting", tone: "wait" },
};

export function Flows({ flows }: { flows: Flow[] }) {
  return <div class="flows">{flows.map((flow) => <OneFlow key={flow.rule} flow={flow} />)}</div>;
}

function OneFlow({ flow }: { flow: Flow }) {
  const queued = flow.first.find((step) => step.kind === "queued")?.n ?? 0;
  const scored = flow.then.find((step) => step.kind === "scored")?.n ?? 0;
  return (
    <section aria-label={`Rule ${visible(flow.rule)}`} class="flow">
      <div class="row">
        <h3 class="name">{visible(flow.rule)}</h3>
        {flow.versions > 1 && <span class="chip outline">{flow.versions} versions</span>}
        <span class="muted small">{count(flow.seen)} seen, {count(queued)} taken, {count(scored)} scored{queued > 0 ? `: coverage ${Math.round((scored / queued) * 1000) / 10} % of n ${count(queued)}` : ""}</span>
      </div>
      <Bar steps={flow.first} of={flow.seen} />
      {queued > 0 && <Bar steps={flow.then} of={Math.max(queued, flow.then.reduce((sum, step) => sum + step.n, 0))} width={queued / (flow.seen || 1)} />}
      <Lost flow={flow} />
      <Reasons rule={flow.rule} steps={[...flow.first, ...flow.then]} />
      <Strata strata={flow.strata} />
    </section>
  );
}

function Bar({ steps, of, width = 1 }: { steps: Step[]; of: number; width?: number }) {
  // What was taken stands at the right end, so that the second bar lies under it.
  return (
    <div class="flowbar" style={{ marginLeft: `${(1 - width) * 100}%` }}>
      {steps.map((step) => (
        <div key={step.kind} class={WORDS[step.kind]?.tone ?? "rest"} style={{ flexGrow: Math.max(step.n / (of || 1), 0.004) }} title={`${WORDS[step.kind]?.word ?? step.kind}: ${count(step.n)}`}>
          <span>{WORDS[step.kind]?.word ?? step.kind} {count(step.n)}</span>
        </div>
      ))}
    </div>
  );
}

/** Coverage is short of all that was drawn: what keeps it there most. */
function Lost({ flow }: { flow: Flow }) {
  const loss = mostlyLost(flow);
  if (!loss) return null;
  return (
    <p class="small"><span class="bad">! {count(loss.lost)} lost</span>, most often {WORDS[loss.kind]?.word ?? visible(loss.kind)}{loss.reason !== "" && `: ${visible(loss.reason)}`},
      {" "}<Traces rule={flow.rule} kind={loss.kind} reason={loss.reason} n={loss.n} /></p>
  );
}

/** The traces about which this was decided. */
function Traces({ rule, kind, reason, n }: { rule: string; kind: string; reason: string; n: number }) {
  const where = tracesOf(rule, kind, reason);
  return where === undefined ? <>{count(n)}</> : <Link href={hrefOf("explore", "", { where })}>{count(n)}</Link>;
}

function Reasons({ rule, steps }: { rule: string; steps: Step[] }) {
  return (
    <details>
      <summary class="small muted">Why</summary>
      <table>
        <thead><tr><th scope="col">Decision</th><th scope="col">Reason</th><th scope="col" class="num">n</th></tr></thead>
        <tbody>{steps.flatMap((step) => step.reasons.map((reason) => (
          <tr key={step.kind + reason.text}><td>{WORDS[step.kind]?.word ?? visible(step.kind)}</td><td>{visible(reason.text)}</td><td class="num"><Traces rule={rule} kind={step.kind} reason={reason.text} n={reason.n} /></td></tr>
        )))}</tbody>
      </table>
    </details>
  );
}

function Strata({ strata }: { strata: Stratum[] }) {
  if (strata.length === 0) return null;
  const range = (each: Stratum) => (each.low === each.high ? value(each.low) : `${value(each.low)} to ${value(each.high)}`);
  if (strata.length === 1 && strata[0]?.name === "") return <p class="small muted">π of what was taken: {range(strata[0])}</p>;
  return (
    <p class="small muted">π by stratum: {strata.map((each) => `${each.name === "" ? "none" : visible(each.name)} ${range(each)} (n ${count(each.n)})`).join("; ")}</p>
  );
}
