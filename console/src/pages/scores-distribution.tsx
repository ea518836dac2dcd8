// The distribution, weighted and raw, and a threshold under trial: moving it asks what share it would pass.
import { useEffect, useMemo, useState } from "preact/hooks";
import { type Row, type Table, rowsOf } from "../lib/api";
import { withCondition } from "../lib/filter";
import { count, numberOf, value } from "../lib/format";
import { useAsk, withoutWrong } from "../lib/hooks";
import { address, setState } from "../lib/store";
import { visible } from "../lib/text";
import { shareAt } from "../lib/trial";
import { Panel } from "../ui/panel";
import { Interval } from "../ui/parts";
import { type Scope, bindIn, isUp } from "./scores-metric";
import C13 from "../../sql/C13.sql";
import C13t from "../../sql/C13t.sql";

const BINS = 40;

/** Values lie between 0 and 1 for most metrics; where the mean does not, a wider scale is taken. */
function scaleOf(row: Row): [number, number] {
  const known = [row.threshold, row.mean].map(numberOf).filter((each): each is number => each !== null);
  const [low, high] = [Math.min(0, ...known), Math.max(1, ...known)];
  const wide = (edge: number) => edge * 2;
  return [low < 0 ? wide(low) : 0, high > 1 ? wide(high) : 1];
}

export function Distribution({ scope, row }: { scope: Scope; row: Row }) {
  const [low, high] = useMemo(() => scaleOf(row), [row]);
  const bound = useMemo(() => bindIn(scope, C13, { low, high }), [scope, low, high]);
  // A wrong filter is told beside the whole.
  const asked = withoutWrong(useAsk(bound));
  const start = numberOf(address.value.state.trial) ?? numberOf(row.threshold);
  const [trial, setTrial] = useState(start);
  useEffect(() => setTrial(start), [start]);
  return (
    <Panel title="Distribution" asked={asked} bound={bound} sub="weighted by 1/π; the outline is the raw count">
      {(table) => (
        <div class="stack">
          <Bins table={table} low={low} high={high} trial={trial} up={isUp(row)} where={scope.where} />
          {trial !== null && <Trial scope={scope} row={row} low={low} high={high} trial={trial} set={setTrial} />}
        </div>
      )}
    </Panel>
  );
}

interface BinsProps {
  table: Table;
  low: number;
  high: number;
  trial: number | null;
  up: boolean;
  /** The filter of the page, which a bin narrows; with the keyboard it is written there. */
  where: string;
}

function Bins({ table, low, high, trial, up, where }: BinsProps) {
  const bins = useMemo(() => {
    const all = Array.from({ length: BINS }, () => ({ weighted: 0, n: 0, range: "" }));
    for (const row of rowsOf(table)) {
      const bin = all[numberOf(row.bin) ?? -1];
      if (bin) Object.assign(bin, { weighted: numberOf(row.weighted) ?? 0, n: numberOf(row.n) ?? 0, range: `value BETWEEN ${numberOf(row.lowest)} AND ${numberOf(row.highest)}` });
    }
    return all;
  }, [table]);
  const weighted = bins.reduce((sum, bin) => sum + bin.weighted, 0) || 1;
  const n = bins.reduce((sum, bin) => sum + bin.n, 0) || 1;
  const top = Math.max(...bins.map((bin) => Math.max(bin.weighted / weighted, bin.n / n))) || 1;
  const edge = (at: number) => low + (at / BINS) * (high - low);
  const passes = (at: number) => trial === null || (up ? edge(at + 0.5) >= trial : edge(at + 0.5) <= trial);
  return (
    <div class="dist" role="img" aria-label={`Distribution of ${count(n)} values between ${value(low)} and ${value(high)}`}>
      {bins.map((bin, at) => (
        <div key={at} title={`${value(edge(at))} to ${value(edge(at + 1))}: ${count(bin.n)} items, weighted ${value(bin.weighted)}; a click shows them`}
          onClick={() => bin.n > 0 && setState({ where: withCondition(where === "true" ? "" : where, bin.range), item: "", show: "" })}>
          <i class={passes(at) ? "" : "fails"} style={{ height: `${(bin.weighted / weighted / top) * 100}%` }} />
          {bin.n > 0 && <b style={{ height: `${(bin.n / n / top) * 100}%` }} />}
        </div>
      ))}
    </div>
  );
}

interface TrialProps {
  scope: Scope;
  row: Row;
  low: number;
  high: number;
  trial: number;
  set: (next: number) => void;
}

function Trial({ scope, row, low, high, trial, set }: TrialProps) {
  const [asked, setAsked] = useState(trial);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(trial), 200);
    return () => clearTimeout(timer);
  }, [trial]);
  const up = isUp(row);
  const own = numberOf(row.threshold);
  // The threshold in force is what the page knows already.
  const bound = useMemo(() => (asked === own ? null : bindIn(scope, C13t, { up, trial: asked })), [scope, up, asked, own]);
  const result = withoutWrong(useAsk(bound));
  const share = shareAt({ trial, asked, own, whole: row }, result);
  return (
    <>
      <input type="range" class="trial" min={low} max={high} step={(high - low) / 200} value={trial} aria-label="Threshold under trial"
        onInput={(event) => set(Number(event.currentTarget.value))} onChange={(event) => setState({ trial: event.currentTarget.value }, true)} />
      <div class="row">
        <span>Threshold under trial {up ? "≥" : "≤"} <strong>{value(trial)}</strong> would pass</span>
        {share ? <Interval estimate={numberOf(share.estimate)} lower={numberOf(share.lower)} upper={numberOf(share.upper)} n={numberOf(share.n)} />
          : result.fault ? <span class="bad small">{visible(result.fault.message.slice(0, 200))}</span> : <span class="muted">…</span>}
        {own !== null && trial !== own && <button type="button" class="quiet" onClick={() => setState({ trial: "" }, true)}>Back to {value(own)}</button>}
        <span class="muted small">A trial changes nothing on the server.</span>
      </div>
    </>
  );
}
