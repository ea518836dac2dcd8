// How far the reviewers of a queue agree, and evaluators with the label that they gave.
import { useJson } from "../lib/hooks";
import { visible } from "../lib/text";
import { Panel } from "../ui/panel";
import { Interval } from "../ui/parts";
import { NAMES } from "./review-agreement";

interface Measure {
  field: string;
  between: string;
  measure: string;
  items: number;
  raters: number;
  estimate: number | null;
  lower: number | null;
  upper: number | null;
}

export function QueueAgreement({ id }: { id: string }) {
  const path = `/v1/lab/queues/${encodeURIComponent(id)}`;
  const asked = useJson<{ measures: Measure[] }>(`${path}/agreement`);
  // Who may only review may not look at others' answers.
  if (asked.fault?.kind === "forbidden") return null;
  const tools = <><a class="button" href={`${path}/export`} download>CSV</a><a class="button" href={`${path}/export?part=edits`} download>Edited scores</a></>;
  return (
    <Panel title="Agreement" sub="95 % intervals; from twenty items on" asked={asked} tools={tools} flush>
      {({ measures }) => (
        <div class="scroll" tabIndex={0} role="group" aria-label="Agreement">
          <table class="quality">
            <thead><tr><th scope="col">Question</th><th scope="col">Between</th><th scope="col">Measure</th><th scope="col">Estimate</th><th scope="col" class="num">People</th></tr></thead>
            <tbody>{measures.map((row) => (
              <tr key={row.field + row.between + row.measure}>
                <td>{visible(row.field)}</td><td>{visible(row.between)}</td><td>{NAMES[row.measure] ?? visible(row.measure.replaceAll("_", " "))}</td>
                <td><Interval estimate={row.estimate} lower={row.lower} upper={row.upper} n={row.items} /></td>
                <td class="num">{row.raters}</td>
              </tr>
            ))}</tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
