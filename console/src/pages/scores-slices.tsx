// The metric by slice, the worst first; a slice narrows the page to its items.
import { useMemo } from "preact/hooks";
import type { Row } from "../lib/api";
import { withCondition } from "../lib/filter";
import { count, numberOf } from "../lib/format";
import type { Asked } from "../lib/hooks";
import { DIMENSIONS, MOST_SLICES, type Slice, dimensionOf, slicesOf } from "../lib/slices";
import type { Bound } from "../lib/statement";
import { address, hrefOf, setState } from "../lib/store";
import { line } from "../lib/text";
import { Panel } from "../ui/panel";
import { Interval, Link, Whisker } from "../ui/parts";
import type { Scope } from "./scores-metric";

interface SlicesProps {
  scope: Scope;
  /** All rows of C12s. */
  rows: Row[];
  asked: Asked<unknown>;
  bound: Bound;
}

export function Slices({ scope, rows, asked, bound }: SlicesProps) {
  const dimension = dimensionOf(address.value.state.by);
  const slices = useMemo(() => slicesOf(rows, dimension), [rows, dimension]);
  const tools = Object.entries(DIMENSIONS).map(([name, says]) => (
    <button key={name} type="button" class="quiet" aria-pressed={name === dimension} onClick={() => setState({ by: name === "service_name" ? "" : name }, true)}>{says}</button>
  ));
  const sub = `the worst upper bound first${slices.length >= MOST_SLICES ? `; the first ${MOST_SLICES}` : ""}`;
  return (
    <Panel title="Slices" asked={{ ...asked, fault: undefined }} bound={bound} tools={tools} sub={sub} flush>
      {() => (
        <div class="scroll short" tabIndex={0} role="group" aria-label="Slices">
          <table class="quality">
            <thead><tr>
              <th scope="col">{DIMENSIONS[dimension]}</th><th scope="col">Share that passes, 95 % interval</th><th scope="col">Mean value</th>
              <th scope="col" class="num">Errors</th><th scope="col" class="num">Skipped</th>
            </tr></thead>
            <tbody>{slices.map((slice) => <OneSlice key={slice.condition} slice={slice} scope={scope} />)}</tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}

function OneSlice({ slice: { name, condition, row }, scope }: { slice: Slice; scope: Scope }) {
  const rate = { estimate: numberOf(row.estimate), lower: numberOf(row.lower), upper: numberOf(row.upper), n: numberOf(row.n) };
  const mean = { estimate: numberOf(row.mean), lower: numberOf(row.mean_lower), upper: numberOf(row.mean_upper), n: numberOf(row.mean_n) };
  const where = withCondition(scope.where === "true" ? "" : scope.where, condition);
  const href = (more: Record<string, string> = {}) => hrefOf("scores", scope.metric, { ...address.value.state, where, item: "", show: "", ...more });
  const [errors, skipped] = [numberOf(row.errors) ?? 0, numberOf(row.skipped) ?? 0];
  const none = <span class="muted">–</span>;
  return (
    <tr>
      <td class="clip"><Link href={href()}>{name === null ? "none" : line(name, 60)}</Link></td>
      <td>{rate.n ? <span class="named"><span class="whisker-cell"><Whisker {...rate} /></span><Link class="plain" href={href({ trend: "" })}><Interval {...rate} /></Link></span> : none}</td>
      <td>{mean.n ? <Link class="plain" href={href({ trend: "mean" })}><Interval {...mean} /></Link> : none}</td>
      <td class="num">{errors > 0 ? <Link class="bad" href={href({ show: "errors" })}>! {count(errors)}</Link> : "0"}</td>
      <td class="num muted">{skipped > 0 ? <Link class="plain" href={href({ show: "skipped" })}>{count(skipped)}</Link> : "0"}</td>
    </tr>
  );
}
