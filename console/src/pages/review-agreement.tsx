// How far people agree with each other, and the evaluator with the label.
import { type Asked, useJson } from "../lib/hooks";
import { visible } from "../lib/text";
import { Panel } from "../ui/panel";
import { Interval } from "../ui/parts";

interface Measure {
  between: string;
  measure: string;
  items: number;
  raters: number;
  estimate: number | null;
  lower: number | null;
  upper: number | null;
}

export const NAMES: Record<string, string> = {
  percent: "same answer", cohen_kappa: "Cohen's κ", krippendorff_alpha: "Krippendorff's α", gwet_ac1: "Gwet's AC1",
};

export function Agreement({ metric }: { metric: string }) {
  const path = encodeURIComponent(metric);
  const asked = useJson<{ measures: Measure[] }>(`/v1/labels/agreement?metric=${path}`);
  // Who may only label may not look at others' answers.
  if (asked.fault?.kind === "forbidden") return null;
  const all = asked as Asked<{ measures: Measure[] }>;
  const tools = <a class="button" href={`/v1/labels/export?metric=${path}`} download>CSV</a>;
  return (
    <Panel title="Agreement" sub="95 % intervals; from twenty items on" asked={all} tools={tools} flush>
      {({ measures }) => (
        <div class="scroll" tabIndex={0} role="group" aria-label="Agreement">
          <table class="quality">
            <thead><tr><th scope="col">Between</th><th scope="col">Measure</th><th scope="col">Estimate</th><th scope="col" class="num">People</th></tr></thead>
            <tbody>{measures.map((row) => (
              <tr key={row.between + row.measure}>
                <td>{visible(row.between)}</td><td>{NAMES[row.measure] ?? visible(row.measure)}</td>
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
