// Page 3: all spans. The filter bar is one SQL expression, the language of sampling rules.
import { useEffect, useMemo, useState } from "preact/hooks";
import { type Row, type Table, ask, rowsOf } from "../lib/api";
import { faultOf, withCondition, withoutLast } from "../lib/filter";
import { useAsk, withoutWrong } from "../lib/hooks";
import { useKeys } from "../lib/keys";
import { fixed, stepOf } from "../lib/range";
import { type Bound, bind } from "../lib/statement";
import { address, goTo, hrefOf, say, setRange, setState, span } from "../lib/store";
import { Panel } from "../ui/panel";
import { Top } from "../ui/shell";
import { TimeHistogram } from "../ui/time-histogram";
import { ExploreRows } from "./explore-rows";
import { Facets } from "./explore-facets";
import { NewSpans } from "./explore-new";
import { ExploreFilter } from "./explore-filter";
import { SidePanel } from "./explore-side";
import C9 from "../../sql/C9.sql";
import C9b from "../../sql/C9b.sql";
import C10 from "../../sql/C10.sql";
import C11 from "../../sql/C11.sql";

interface Bounds {
  rows: Bound;
  histogram: Bound;
  facets: Bound;
}

function boundsOf(where: string, from: string, to: string, step: string): Bounds | null {
  if (faultOf(where)) return null;
  const raw = { where: where.trim() === "" ? "true" : where };
  return {
    rows: bind(C9, { from, to }, raw),
    histogram: bind(C10, { from, to, step }, raw),
    facets: bind(C11, { from, to }, raw),
  };
}

export default function Explore() {
  const where = address.value.state.where ?? "";
  const { from, to } = fixed(span.value);
  const step = stepOf(span.value, 120);
  const bounds = useMemo(() => boundsOf(where, from, to, step.sql), [where, from, to, step.sql]);
  const rows = useAsk(bounds?.rows ?? null);
  const more = useMore(rows.data, where, from, to);
  const selected = address.value.state.row ?? "";
  const list = more.rows;
  const at = list.findIndex((row) => keyOf(row) === selected);
  useWalkKeys(list);
  const open = at >= 0 ? list[at] : undefined;
  return (
    <>
      <Top title="Explorer" />
      <main id="main" tabIndex={-1} class={open ? "explore with-side" : "explore"}>
        <ExploreFilter where={where} fault={rows.fault} />
        <Facets bound={bounds?.facets ?? null} where={where} />
        <div class="stack">
          <Histogram bound={bounds?.histogram ?? null} step={step.ms} />
          <Panel title="Spans" asked={rows} bound={bounds?.rows} flush tools={<NewSpans where={where} on={bounds !== null} />} sub={rows.data ? countText(list.length, more.end) : ""}>
            {() => <ExploreRows rows={list} selected={at} more={more} where={where} retry={withoutLast(where)} />}
          </Panel>
        </div>
        {open && <SidePanel key={selected} row={open} close={() => setState({ row: "" }, true)} />}
      </main>
    </>
  );
}

export function keyOf(row: Row): string {
  return `${String(row.trace_id)}.${String(row.span_id)}`;
}

function countText(n: number, end: boolean): string {
  return `${n} shown, newest first${end ? "" : "; more on demand"}`;
}

function useWalkKeys(list: Row[]): void {
  const place = () => list.findIndex((row) => keyOf(row) === address.value.state.row);
  const walk = (by: number) => {
    const row = list[Math.max(0, Math.min(list.length - 1, place() + by))];
    if (row) setState({ row: keyOf(row) }, true);
  };
  const open = () => {
    const row = list[place()];
    if (row) goTo(hrefOf("trace", String(row.trace_id), { span: String(row.span_id) }));
  };
  useKeys([
    { keys: "j", what: "Next row", run: () => walk(1) },
    { keys: "k", what: "Row before", run: () => walk(-1) },
    { keys: "ArrowDown", what: "Next row", run: () => walk(1) },
    { keys: "ArrowUp", what: "Row before", run: () => walk(-1) },
    { keys: "Enter", what: "Open the trace", run: open },
    { keys: "Escape", what: "Close the side panel", run: () => setState({ row: "" }, true) },
  ], [list]);
}

export interface More {
  rows: Row[];
  /** Nothing older is left. */
  end: boolean;
  busy: boolean;
  load: () => void;
}

const PAGE = 200;

/** The rows of the first page and of those that were asked for since. */
function useMore(first: Table | undefined, where: string, from: string, to: string): More {
  const [later, setLater] = useState<{ of?: Table; rows: Row[]; end: boolean; busy: boolean }>({ rows: [], end: false, busy: false });
  const start = useMemo(() => (first ? rowsOf(first) : []), [first]);
  useEffect(() => setLater({ rows: [], end: start.length < PAGE, busy: false, ...(first ? { of: first } : {}) }), [first]);
  const mine = later.of === first;
  const rows = useMemo(() => (mine ? [...start, ...later.rows] : start), [start, later]);
  const load = async () => {
    const last = rows[rows.length - 1];
    if (!last || later.busy) return;
    setLater({ ...later, busy: true });
    const raw = { where: where.trim() === "" ? "true" : where };
    try {
      const table = await ask(bind(C9b, { from, to, t: String(last.start_time), s: String(last.span_id) }, raw));
      const found = rowsOf(table);
      setLater((old) => (old.of === first ? { ...old, rows: [...old.rows, ...found], end: found.length < PAGE, busy: false } : old));
    } catch (error) {
      setLater((old) => (old.of === first ? { ...old, busy: false } : old));
      say(error instanceof Error ? error.message : String(error));
    }
  };
  return { rows, end: mine ? later.end : start.length < PAGE, busy: later.busy, load: () => void load() };
}

function Histogram({ bound, step }: { bound: Bound | null; step: number }) {
  const asked = withoutWrong(useAsk(bound));
  return (
    <Panel title="Over time" asked={asked} bound={bound ?? undefined} sub="spans a bucket; drag to zoom">
      {(table) => <TimeHistogram table={table} span={span.value} step={step} zoom={(next) => setRange(fixed(next))} />}
    </Panel>
  );
}

export function narrowed(where: string, condition: string): void {
  setState({ where: withCondition(where, condition), row: "" });
}
