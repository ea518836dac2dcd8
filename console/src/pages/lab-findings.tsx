// What stands out in an experiment: metrics below their line, flips, what could not be scored, the hardest items.
import type { Finding } from "../lib/board";
import { value } from "../lib/format";
import { useJson } from "../lib/hooks";
import { labPath } from "../lib/lab";
import { hrefOf, tenant } from "../lib/store";
import { line, visible } from "../lib/text";
import { Panel } from "../ui/panel";
import { Link } from "../ui/parts";

const SIGNS: Record<string, [string, string]> = { problem: ["↓", "bad"], flip: ["⇄", "warn"], unscorable: ["!", "warn"], insight: ["·", ""] };

export function Findings({ id, name }: { id: string; name?: string }) {
  const asked = useJson<{ findings: Finding[] }>(labPath(`experiments/${encodeURIComponent(id)}/findings`, {}, tenant.value));
  // On the experiment's own page it is known whose they are.
  const tools = name === undefined ? null : <Link class="button" href={hrefOf("lab", "experiments", { experiment: id })}>Experiment</Link>;
  return (
    <Panel title={name === undefined ? "Findings" : `Findings in ${visible(name).slice(0, 60)}`} sub="problems first" asked={asked} tools={tools}>
      {({ findings }) => (findings.length === 0
        ? <p class="muted">Nothing stands out: no metric with a threshold is on its wrong side, nothing flipped, and no item failed.</p>
        : <ul class="stack">{findings.map((each, at) => <One key={at} each={each} id={id} />)}</ul>)}
    </Panel>
  );
}

function One({ each, id }: { each: Finding; id: string }) {
  const [sign, tone] = SIGNS[each.kind] ?? ["·", ""];
  const first = each.item_ids[0];
  return (
    <li class="score">
      <div class="row">
        <span class={`chip ${tone}`}><span aria-hidden="true">{sign}</span>{line(each.kind, 20)}</span>
        <strong>{line(each.text, 400)}</strong>
        <span class="muted">{line(each.severity, 12)}, {line(each.certainty, 12)}{each.lower !== null && each.upper !== null && ` [${value(each.lower)}, ${value(each.upper)}]`}</span>
      </div>
      <div class="row small">
        <span class="muted">{line(each.action, 300)}</span>
        {first !== undefined && <Link href={hrefOf("lab", "experiments", { experiment: id, item: first })}>{each.item_ids.length === 1 ? "the item" : "the first of its items"}</Link>}
      </div>
    </li>
  );
}
