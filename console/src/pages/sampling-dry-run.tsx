// A rule tried without running it: how many traces its filter would take in this time range, and what that would cost.
import { useMemo, useState } from "preact/hooks";
import { type Row, rowsOf } from "../lib/api";
import { faultOf } from "../lib/filter";
import { rateOf } from "../lib/flow";
import { compact, cost, count, numberOf } from "../lib/format";
import { useAsk } from "../lib/hooks";
import { bind } from "../lib/statement";
import { address, copy, setState } from "../lib/store";
import { EditorBox } from "../ui/editor-box";
import { Panel } from "../ui/panel";
import C27 from "../../sql/C27.sql";

const START = "operation IN ('llm', 'agent')";

export function DryRun({ from, to }: { from: string; to: string }) {
  const tried = address.value.state.rule ?? "";
  const [text, setText] = useState(tried || START);
  const [rate, setRate] = useState("0.1");
  const wrong = faultOf(text);
  const bound = useMemo(() => (tried === "" || faultOf(tried) ? null : bind(C27, { from, to }, { where: tried })), [tried, from, to]);
  const asked = useAsk(bound);
  const run = () => !wrong && setState({ rule: text.trim() }, true);
  const share = rateOf(rate);
  const toml = `[[sample.rules]]\nname = "tried-in-the-console"\nfilter = ${JSON.stringify(text)}\nrate = ${share}\n`;
  return (
    <section class="panel" aria-label="Try a rule">
      <header><h2>Try a rule</h2><span class="sub">what its filter would take in this time range; nothing changes</span></header>
      <div class="body stack">
        <div class="filterbar">
          <div class="grow"><EditorBox single later text={text} source={0} label="Filter of the rule" table="spans" run={run} change={setText} /></div>
          <label>rate <input type="text" inputMode="decimal" class="short" aria-invalid={share === undefined} value={rate} onInput={(event) => setRate(event.currentTarget.value)} /></label>
          <button type="button" class="primary" disabled={Boolean(wrong)} onClick={run}>Try</button>
          <button type="button" disabled={share === undefined} onClick={() => void copy(toml, "Rule")}>Copy as TOML</button>
        </div>
        {share === undefined && <p class="bad small" role="status">The rate is a number above 0 and up to 1, such as 0.1.</p>}
        {wrong && <p class="bad small">At character {wrong.at + 1}: {wrong.why}.</p>}
        {bound && (
          <Panel title="It would take" asked={asked} bound={bound}>{(table) => <Taken row={rowsOf(table)[0]} share={share} />}</Panel>
        )}
      </div>
    </section>
  );
}

function Taken({ row, share }: { row: Row | undefined; share: number | undefined }) {
  if (!row) return null;
  const [taken, traces, each] = [numberOf(row.taken) ?? 0, numberOf(row.traces) ?? 0, numberOf(row.cost_each)];
  const says = <>The filter takes <strong>{count(taken)}</strong> of {count(traces)} traces</>;
  if (share === undefined) return <p>{says}.</p>;
  const items = taken * share;
  return (
    <p>
      {says}; at rate {share} about <strong>{compact(items)}</strong> would be judged.{" "}
      {each === null ? "No score has had a cost so far." : `At ${cost(each)} a judged trace so far: about ${cost(each * items)}.`}
    </p>
  );
}
