// The trace as a graph. It has the selection of the waterfall, and the same keys walk through it.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Row } from "../lib/api";
import { count, duration, numberOf } from "../lib/format";
import { BOX, type Graph, type GraphNode, MOST, graph, step } from "../lib/graph";
import { useKeys } from "../lib/keys";
import { kindName } from "../lib/kinds";
import { setState } from "../lib/store";
import { line } from "../lib/text";
import type { SpanRow } from "../lib/waterfall";
import { kindColour } from "../ui/kind";
import { verdictOf } from "../ui/parts";

interface ViewProps {
  rows: SpanRow[];
  scores: Row[];
  selected: string;
}

/** How many scores of a span failed. */
function failures(scores: Row[]): Map<string, number> {
  const failed = new Map<string, number>();
  for (const row of scores) {
    if (verdictOf(row.status, row.passed) === "fail") failed.set(String(row.span_id), (failed.get(String(row.span_id)) ?? 0) + 1);
  }
  return failed;
}

export function GraphView({ rows, scores, selected }: ViewProps) {
  const failed = useMemo(() => failures(scores), [scores]);
  // What was selected at first stays in the picture: boxes must not move because another one is chosen.
  const [first] = useState(selected);
  const drawn = useMemo(() => graph(rows, new Set([first, ...failed.keys()])), [rows, failed, first]);
  const at = drawn.nodes.findIndex((node) => node.span.span_id === selected);
  const choose = (index: number) => {
    const node = drawn.nodes[Math.max(0, Math.min(drawn.nodes.length - 1, index))];
    if (node) setState({ span: node.span.span_id }, true);
  };
  useKeys([
    { keys: "j", what: "Next span", run: () => choose(at + 1) },
    { keys: "k", what: "Span before", run: () => choose(at - 1) },
  ], [drawn, at]);
  return (
    <>
      <LeftOut drawn={drawn} />
      <Picture drawn={drawn} at={at} failed={failed} choose={choose} />
    </>
  );
}

function LeftOut({ drawn: { nodes, beyond, plain } }: { drawn: Graph }) {
  if (beyond === 0 && plain === 0) return null;
  const parts = [
    beyond > 0 ? `${count(nodes.length)} of ${count(nodes.length + beyond)} boxes are drawn, at most ${MOST}: those nearest to the start, and what failed. The waterfall has all.` : "",
    plain > 0 ? `${count(plain)} plain ${plain === 1 ? "span is" : "spans are"} left out; what ${plain === 1 ? "it" : "they"} called hangs from the span before.` : "",
  ];
  return <p class="muted small padded-line" role="note">{parts.filter(Boolean).join(" ")}</p>;
}

interface PictureProps {
  drawn: Graph;
  at: number;
  failed: Map<string, number>;
  choose: (index: number) => void;
}

function Picture({ drawn, at, failed, choose }: PictureProps) {
  const box = useRef<HTMLDivElement>(null);
  const { nodes, width, height } = drawn;
  useEffect(() => {
    if (box.current && nodes[at]) reveal(box.current, nodes[at]);
  }, [at, drawn]);
  const press = (event: KeyboardEvent) => {
    if (!/^(Arrow|Home$|End$)/.test(event.key)) return;
    event.preventDefault();
    choose(step(nodes, at, event.key));
  };
  return (
    <div class="scroll tall graph" ref={box}>
      <svg width={width} height={height} role="tree" aria-label="Spans of the trace as a graph" tabindex={0} onKeyDown={press}
        {...(at >= 0 ? { "aria-activedescendant": `box-${at}` } : {})}>
        <g aria-hidden="true">{nodes.map((node, index) => node.parent >= 0 && <path key={index} class="edge" d={edge(nodes[node.parent] as GraphNode, node)} />)}</g>
        {nodes.map((node, index) => (
          <Box key={node.span.span_id} node={node} index={index} selected={index === at} failed={failed.get(node.span.span_id) ?? 0} choose={choose} />
        ))}
      </svg>
    </div>
  );
}

/** Scrolls within the picture alone, and only as far as needed. */
function reveal(box: HTMLElement, { x, y }: GraphNode): void {
  const margin = BOX.edge;
  if (x - margin < box.scrollLeft) box.scrollLeft = x - margin;
  else if (x + BOX.width + margin > box.scrollLeft + box.clientWidth) box.scrollLeft = x + BOX.width + margin - box.clientWidth;
  if (y - margin < box.scrollTop) box.scrollTop = y - margin;
  else if (y + BOX.height + margin > box.scrollTop + box.clientHeight) box.scrollTop = y + BOX.height + margin - box.clientHeight;
}

function edge(from: GraphNode, to: GraphNode): string {
  const [x, y, right, low] = [from.x + BOX.width, from.y + BOX.height / 2, to.x, to.y + BOX.height / 2];
  const middle = (x + right) / 2;
  return `M${x} ${y}C${middle} ${y} ${middle} ${low} ${right} ${low}`;
}

interface BoxProps {
  node: GraphNode;
  index: number;
  selected: boolean;
  failed: number;
  choose: (index: number) => void;
}

function Box({ node, index, selected, failed, choose }: BoxProps) {
  const { span, x, y } = node;
  const kind = kindName(span.operation);
  const error = span.status_code === "error";
  const tokens = span.input_tokens === null && span.output_tokens === null ? "" : ` · ${count(numberOf(span.input_tokens))} / ${count(numberOf(span.output_tokens))}`;
  const took = duration(numberOf(span.duration_ns));
  const verdict = failed > 0 ? `, ${failed} ${failed === 1 ? "score" : "scores"} failed` : "";
  const name = line(span.name, 120);
  return (
    <g id={`box-${index}`} role="treeitem" aria-level={node.depth + 1} aria-selected={selected} class={error || failed > 0 ? "box wrong" : "box"}
      transform={`translate(${x} ${y})`} onClick={() => choose(index)}>
      <title>{name}{error ? ", error" : ""}{verdict}</title>
      <rect width={BOX.width} height={BOX.height} rx="6" />
      <rect class="stripe" width="4" height={BOX.height} rx="2" style={{ fill: kindColour(span.operation) }} />
      <text x="12" y="19" class="name">{error ? "! " : ""}{line(span.name, 23)}</text>
      <text x="12" y="37" class="sub"><tspan class="word" style={{ fill: kindColour(span.operation) }}>{kind}</tspan>{` ${took}${tokens}`}</text>
      {failed > 0 && <text x={BOX.width - 8} y="37" class="fails" text-anchor="end">✗ {failed}</text>}
    </g>
  );
}
