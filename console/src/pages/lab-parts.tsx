// By what the items are parted, and what came of each part in one experiment.
import { count, interval } from "../lib/format";
import type { SliceSummary } from "../lib/lab";
import { PARTS_SHOWN, partsCut } from "../lib/limits";
import { partsOf } from "../lib/several";
import { address, setState } from "../lib/store";
import { line, visible } from "../lib/text";
import { Interval } from "../ui/parts";

/** The choice stands in the address, so that a link shows the same parts. */
export function PartsPicker({ dimensions }: { dimensions: string[] }) {
  const { slice = "" } = address.value.state;
  const parts = partsOf(dimensions, slice);
  if (parts.length === 0) return null;
  return (
    <label class="row small">Parted by
      <select value={slice} onChange={(event) => setState({ slice: event.currentTarget.value })}>
        <option value="">nothing</option>
        {parts.map((each) => <option key={each} value={each}>{visible(each)}</option>)}
      </select>
    </label>
  );
}

export function PartSummaries({ slices, leftOut }: { slices: SliceSummary[]; leftOut: number }) {
  if (slices.length === 0) return <p class="muted">No part has two items.</p>;
  const rows = slices.flatMap((slice) => slice.metrics.map((each) => ({ slice, each })));
  const cut = partsCut(rows.length);
  return (
    <>
      {cut && <p role="status" class="muted small">{cut}</p>}
      <div class="scroll" tabIndex={0} role="group" aria-label="Metrics by part">
        <table class="quality">
          <thead><tr><th scope="col">Part</th><th scope="col" class="num">Items</th><th scope="col">Metric</th><th scope="col">Share that passes</th><th scope="col">Mean value</th><th scope="col" class="num">Errors</th><th scope="col" class="num">Skipped</th></tr></thead>
          <tbody>{rows.slice(0, PARTS_SHOWN).map(({ slice, each }) => (
            <tr key={[slice.by, slice.value, each.evaluator, each.metric].join("\n")}>
              <th scope="row"><span class="muted">{line(slice.by, 40)}</span> {line(slice.value, 60)}</th><td class="num">{count(slice.items)}</td>
              <td>{line(each.metric, 60)} <span class="muted">{line(each.evaluator, 60)}</span></td>
              <td>{each.passed ? <span class="named"><Interval whisker {...each.passed} /></span> : <span class="muted">no verdicts</span>}</td>
              <td>{each.value ? interval(each.value) : "–"}</td>
              <td class="num">{count(each.errors)}</td><td class="num">{count(each.skipped)}</td>
            </tr>
          ))}</tbody>
        </table>
      </div>
      {leftOut > 0 && <p class="muted small">{count(leftOut)} more parts, those with the fewest items, are left out.</p>}
    </>
  );
}
