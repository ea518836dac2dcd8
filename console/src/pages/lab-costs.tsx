// What answers took and cost in two experiments: means over the same items, and the difference with its interval.
import { useMemo } from "preact/hooks";
import { type Row, rowsOf } from "../lib/api";
import { cost, count, duration, numberOf, value } from "../lib/format";
import { useAsk } from "../lib/hooks";
import { bind } from "../lib/statement";
import { visible } from "../lib/text";
import { Panel } from "../ui/panel";
import C37 from "../../sql/C37.sql";

export function Costs({ baseline, after }: { baseline: string; after: string }) {
  const bound = useMemo(() => bind(C37, { baseline, new: after }), [baseline, after]);
  const asked = useAsk(bound);
  return (
    <Panel title="Time, tokens and cost of an answer" sub="means over the items that both answered; new minus baseline, 95 % interval" asked={asked} bound={bound} flush>
      {(table) => (table.rows === 0 ? <p class="empty">No item of both has a time, tokens or a cost.</p> : (
        <div class="scroll" tabIndex={0} role="group" aria-label="Time, tokens and cost">
          <table class="quality">
            <thead><tr><th scope="col">Mean of</th><th scope="col" class="num">Baseline</th><th scope="col" class="num">New</th><th scope="col">Difference</th></tr></thead>
            <tbody>{rowsOf(table).map((row) => <Line key={String(row.what)} row={row} />)}</tbody>
          </table>
        </div>
      ))}
    </Panel>
  );
}

/** A value with its unit. */
function shown(what: string, number: number | null): string {
  if (number === null) return "–";
  if (what === "duration") return duration(number * 1e6);
  return what === "cost" ? cost(number) : value(Number(number.toPrecision(4)));
}

function signed(what: string, number: number | null): string {
  if (number === null) return "?";
  return `${number > 0 ? "+" : number < 0 ? "−" : ""}${shown(what, Math.abs(number))}`;
}

function Line({ row }: { row: Row }) {
  const what = String(row.what);
  const [lower, upper, n] = [numberOf(row.lower), numberOf(row.upper), numberOf(row.n)];
  const difference = numberOf(row.difference);
  const open = lower === null || upper === null || (lower <= 0 && upper >= 0);
  return (
    <tr>
      <th scope="row">{visible(what)}</th>
      <td class="num">{shown(what, numberOf(row.was))}</td><td class="num">{shown(what, numberOf(row.now))}</td>
      <td>{difference === null ? <span class="muted">too few (n {count(n)})</span> : (
        <><strong>{signed(what, difference)}</strong> <span class="muted">[{signed(what, lower)}, {signed(what, upper)}] n {count(n)}{open && "; no difference shown"}</span></>
      )}</td>
    </tr>
  );
}
