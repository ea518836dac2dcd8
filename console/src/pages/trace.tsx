// Page 2: one trace. The waterfall with scores on the spans they judge, or the conversation; beside it the chosen span.
import { useEffect, useMemo } from "preact/hooks";
import { type Row, rowsOf } from "../lib/api";
import { type Asked, useAsk } from "../lib/hooks";
import { type Bound, bind } from "../lib/statement";
import { address, hrefOf, setState } from "../lib/store";
import type { SpanRow } from "../lib/waterfall";
import { visible } from "../lib/text";
import { worstFirst } from "../lib/worst";
import { Empty, Panel } from "../ui/panel";
import { CopyButton, Link, verdictOf } from "../ui/parts";
import { Top } from "../ui/shell";
import { Annotations } from "./trace-annotations";
import { Conversation } from "./trace-conversation";
import { TraceHead } from "./trace-head";
import { GraphView } from "./trace-graph";
import { WaterfallView } from "./trace-waterfall";
import { ScoreList } from "./span-scores";
import { SpanDetail } from "./span-detail";
import C4 from "../../sql/C4.sql";
import C5 from "../../sql/C5.sql";

export default function Trace() {
  const { id } = address.value;
  return <OneTrace key={id} id={id} />;
}

function OneTrace({ id }: { id: string }) {
  const skeleton = useMemo(() => bind(C4, { id }), [id]);
  const scored = useMemo(() => bind(C5, { id }), [id]);
  const spans = useAsk(skeleton);
  const scores = useAsk(scored);
  const rows = useMemo(() => (spans.data ? (rowsOf(spans.data) as unknown as SpanRow[]) : []), [spans.data]);
  const scoreRows = useMemo(() => (scores.data ? worstFirst(rowsOf(scores.data)) : []), [scores.data]);
  return (
    <>
      <Top title={<>Trace <span class="mono">{visible(id.slice(0, 16))}</span></>} ranged={false}>
        <CopyButton text={id} what="Trace id" />
      </Top>
      <main id="main" tabIndex={-1}>
        {spans.data && rows.length === 0
          ? <Unknown id={id} bound={skeleton} />
          : <Shown id={id} rows={rows} spans={spans} scores={scoreRows} bounds={[skeleton, scored]} scoresAsked={scores} />}
      </main>
    </>
  );
}

interface ShownProps {
  id: string;
  rows: SpanRow[];
  spans: Asked<unknown>;
  scores: Row[];
  bounds: Bound[];
  scoresAsked: Asked<unknown>;
}

const VIEWS = [["waterfall", "Waterfall"], ["conversation", "Conversation"], ["graph", "Graph"]] as const;

function Shown({ id, rows, spans, scores, bounds, scoresAsked }: ShownProps) {
  const { view = "waterfall", span = "" } = address.value.state;
  const selected = rows.some((row) => row.span_id === span) ? span : firstOf(rows, scores);
  const shown = VIEWS.some(([name]) => name === view) ? view : "waterfall";
  const talks = shown === "conversation";
  const tools = VIEWS.map(([name, label]) => (
    <button key={name} type="button" aria-pressed={name === shown} onClick={() => setState({ view: name === "waterfall" ? "" : name }, true)}>{label}</button>
  ));
  return (
    <>
      {rows.length > 0 && <TraceHead id={id} rows={rows} scores={scores} />}
      <div class="trace">
        <Panel title={talks ? "Conversation" : "Spans"} asked={spans} bound={bounds} tools={tools} flush={!talks} sub={subText(rows)}>
          {() => {
            if (talks) return <Conversation id={id} scores={scores} />;
            return shown === "graph" ? <GraphView rows={rows} scores={scores} selected={selected} /> : <WaterfallView rows={rows} scores={scores} selected={selected} />;
          }}
        </Panel>
        <div class="stack">
          {selected && <SelectedSpan id={id} span={selected} rows={rows} scores={scores} asked={scoresAsked} bound={bounds[1]} />}
          <Annotations id={id} span={selected} scores={scores} />
        </div>
      </div>
    </>
  );
}

function subText(rows: SpanRow[]): string {
  if (rows.length >= 20_000) return "the first 20,000 spans; there are more";
  return rows.length === 0 ? "" : `${rows.length} ${rows.length === 1 ? "span" : "spans"}`;
}

/** The span that failed worst, else the first. */
function firstOf(rows: SpanRow[], scores: Row[]): string {
  const failed = scores.find((row) => verdictOf(row.status, row.passed) === "fail" && rows.some((each) => each.span_id === row.span_id));
  return failed ? String(failed.span_id) : (rows[0]?.span_id ?? "");
}

interface SelectedProps {
  id: string;
  span: string;
  rows: SpanRow[];
  scores: Row[];
  asked: Asked<unknown>;
  bound: Bound | undefined;
}

function SelectedSpan({ id, span, rows, scores, asked, bound }: SelectedProps) {
  const row = rows.find((each) => each.span_id === span);
  useEffect(() => {
    document.title = row ? `${visible(row.name).slice(0, 60)} – Groundline` : "Groundline";
    return () => {
      document.title = "Groundline";
    };
  }, [row]);
  return (
    <>
      <Panel title="Scores of this span" asked={asked} bound={bound} sub={row ? visible(row.name).slice(0, 60) : ""}>
        {() => <ScoreList rows={scores.filter((each) => each.span_id === span)} />}
      </Panel>
      <SpanDetail key={span} trace={id} span={span} rows={rows} scores={scores} />
    </>
  );
}

function Unknown({ id, bound }: { id: string; bound: Bound }) {
  return (
    <section class="panel">
      <Empty title="This trace is not here">
        <p>It was never received, it has expired (the retention of this tenant has passed), or it is another tenant's.</p>
        <p>What was searched for:</p>
        <pre class="code">{visible(bound.shown)}</pre>
        <div class="row">
          <CopyButton text={bound.shown} what="SQL" />
          <Link class="button" href={hrefOf("explore", "", { where: `trace_id = '${id.replace(/'/g, "''")}'` })}>Search in the explorer</Link>
        </div>
      </Empty>
    </section>
  );
}
