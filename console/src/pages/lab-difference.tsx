// A difference of two experiments: the number with its interval, and what it shows.
import { count, rate } from "../lib/format";
import { type Difference, type SliceDifference, signed, verdictText } from "../lib/lab";
import { PARTS_SHOWN, partsCut } from "../lib/limits";
import { line } from "../lib/text";
import { MovedLink, RunsLink } from "./lab-narrowed";

const TONES: Record<string, [string, string]> = { better: ["↑", "good"], worse: ["↓", "bad"] };

export function VerdictOf({ each }: { each: Difference }) {
  const [sign, tone] = TONES[each.verdict] ?? ["≈", ""];
  return <span class={`chip ${tone}`}><span aria-hidden="true">{sign}</span>{verdictText(each)}</span>;
}

export function Apart({ each }: { each: Difference }) {
  const end = (x: number | null) => (x === null ? "?" : signed(x, each.measure));
  return <><strong>{signed(each.difference, each.measure)}</strong> <span class="muted">[{end(each.lower)}, {end(each.upper)}]{each.measure === "pass_rate" ? " points" : ""} n {count(each.n)}</span></>;
}

/** The head of the cells below. */
export function DifferenceHeads() {
  return <><th scope="col">Metric</th><th scope="col" class="num">Baseline</th><th scope="col" class="num">New</th><th scope="col">Difference</th><th scope="col">Verdict</th><th scope="col" class="num" title="Adjusted for the number of metrics, parts and experiments (Benjamini and Hochberg)">p</th></>;
}

interface CellsProps {
  each: Difference;
  /** The experiments that are compared; without them nothing leads anywhere. */
  of?: { after: string; baseline: string };
}

export function DifferenceCells({ each, of }: CellsProps) {
  const runs = (experiment: string | undefined, text: string) => (experiment === undefined ? text : <RunsLink experiment={experiment} each={each}>{text}</RunsLink>);
  return (
    <>
      <td>{line(each.metric, 60)} <span class="muted">{line(each.evaluator, 60)}{each.measure === "pass_rate" ? ", passes" : ", value"}</span></td>
      <td class="num">{runs(of?.baseline, rate(each.baseline))}</td><td class="num">{runs(of?.after, rate(each.new))}</td>
      <td>{of ? <MovedLink {...of} each={each}><Apart each={each} /></MovedLink> : <Apart each={each} />}</td>
      <td><VerdictOf each={each} /></td>
      <td class="num">{rate(each.p_adjusted)}</td>
    </>
  );
}

export interface PartsOf {
  /** Of several experiments, whose they are. */
  name?: string;
  slices: SliceDifference[];
}

/** Differences within each part of the items. */
export function PartDifferences({ all, leftOut }: { all: PartsOf[]; leftOut: number }) {
  const named = all.some((each) => each.name !== undefined);
  if (all.every((each) => each.slices.length === 0)) return <p class="empty">No part has two items that both were asked.</p>;
  const rows = all.flatMap(({ name, slices }) => slices.flatMap((slice) => slice.metrics.map((each) => ({ name, slice, each }))));
  const cut = partsCut(rows.length);
  return (
    <>
      {cut && <p role="status" class="padded-line muted small">{cut}</p>}
      <div class="scroll" tabIndex={0} role="group" aria-label="Differences by part">
        <table class="quality">
          <thead><tr>{named && <th scope="col">Experiment</th>}<th scope="col">Part</th><th scope="col" class="num">Pairs</th><DifferenceHeads /></tr></thead>
          <tbody>{rows.slice(0, PARTS_SHOWN).map(({ name, slice, each }) => (
            <tr key={[name, slice.by, slice.value, each.evaluator, each.metric].join("\n")}>
              {named && <td>{line(name ?? "", 40)}</td>}
              <th scope="row"><span class="muted">{line(slice.by, 40)}</span> {line(slice.value, 60)}</th><td class="num">{count(slice.paired)}</td>
              <DifferenceCells each={each} />
            </tr>
          ))}</tbody>
        </table>
      </div>
      {leftOut > 0 && <p class="padded-line muted small">{count(leftOut)} more parts, those with the fewest items, are left out.</p>}
    </>
  );
}
