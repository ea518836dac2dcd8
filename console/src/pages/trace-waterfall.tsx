// The waterfall: a tree as a table. Arrow keys walk and fold; scores stand on the span that they judge.
import { useMemo, useState } from "preact/hooks";
import type { Row } from "../lib/api";
import { cost, count, duration, numberOf, rate } from "../lib/format";
import { useKeys } from "../lib/keys";
import { address, setState } from "../lib/store";
import { line, visible } from "../lib/text";
import { type Node, type SpanRow, groupKey, waterfall } from "../lib/waterfall";
import { Kind, kindColour } from "../ui/kind";
import { VerdictChip, verdictOf } from "../ui/parts";
import { VirtualTable } from "../ui/virtual";

interface ViewProps {
  rows: SpanRow[];
  scores: Row[];
  selected: string;
}

const RANK = { fail: 0, error: 1, none: 2, pass: 3, skipped: 4 };

function bySpan(scores: Row[]): Map<string, Row[]> {
  const map = new Map<string, Row[]>();
  for (const row of scores) {
    const list = map.get(String(row.span_id)) ?? [];
    list.push(row);
    map.set(String(row.span_id), list);
  }
  for (const list of map.values()) list.sort((a, b) => RANK[verdictOf(a.status, a.passed)] - RANK[verdictOf(b.status, b.passed)]);
  return map;
}

export function WaterfallView({ rows, scores, selected }: ViewProps) {
  const folded = useMemo(() => new Set((address.value.state.fold ?? "").split(",").filter(Boolean)), [address.value.state.fold]);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const { nodes } = useMemo(() => waterfall(rows, folded, opened), [rows, folded, opened]);
  const chips = useMemo(() => bySpan(scores), [scores]);
  const at = nodes.findIndex((node) => node.span.span_id === selected);
  const act = actions(nodes, at, folded, opened, setOpened);
  useKeys([
    { keys: "j", what: "Next span", run: () => act.choose(at + 1) },
    { keys: "k", what: "Span before", run: () => act.choose(at - 1) },
  ], [nodes, at]);
  const costs = rows.some((row) => row.cost_usd !== null);
  const head = (
    <tr role="row">
      <th scope="col" role="columnheader">Span</th><th scope="col" role="columnheader">Scores</th>
      <th scope="col" role="columnheader" class="bar-head">Time</th><th scope="col" role="columnheader" class="num">Duration</th>
      <th scope="col" role="columnheader" class="num">Tokens</th>{costs && <th scope="col" role="columnheader" class="num">Cost</th>}
    </tr>
  );
  const row = (index: number) => (
    <SpanLine key={index} node={nodes[index] as Node} index={index} selected={index === at} chips={chips} act={act} costs={costs} />
  );
  return (
    <VirtualTable rows={nodes.length} height={31} label="Spans of the trace" head={head} columns={costs ? 6 : 5} row={row} focus={at}
      role="treegrid" active={at >= 0 ? `span-${at}` : undefined} onKey={(event) => act.key(event)} class="result waterfall" />
  );
}

interface Actions {
  choose: (index: number) => void;
  fold: (node: Node) => void;
  key: (event: KeyboardEvent) => void;
}

function actions(nodes: Node[], at: number, folded: ReadonlySet<string>, opened: ReadonlySet<string>, open: (next: ReadonlySet<string>) => void): Actions {
  const choose = (index: number) => {
    const node = nodes[Math.max(0, Math.min(nodes.length - 1, index))];
    if (node) setState({ span: node.span.span_id }, true);
  };
  const fold = (node: Node) => {
    if (node.group > 1) return open(new Set([...opened, groupKey(node.span)]));
    const next = new Set(folded);
    if (!next.delete(node.span.span_id)) next.add(node.span.span_id);
    return setState({ fold: [...next].join(",") }, true);
  };
  const key = (event: KeyboardEvent) => {
    const node = nodes[at];
    if (!node) return;
    const foldable = node.children > 0 || node.group > 1;
    const moves: Record<string, () => void> = {
      ArrowDown: () => choose(at + 1), ArrowUp: () => choose(at - 1), Home: () => choose(0), End: () => choose(nodes.length - 1),
      ArrowRight: () => (foldable && (node.folded || node.group > 1) ? fold(node) : choose(at + 1)),
      ArrowLeft: () => (foldable && !node.folded && node.group === 1 ? fold(node) : choose(parentOf(nodes, at))),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  };
  return { choose, fold, key };
}

function parentOf(nodes: Node[], at: number): number {
  const depth = nodes[at]?.depth ?? 0;
  for (let above = at - 1; above >= 0; above--) if ((nodes[above]?.depth ?? 0) < depth) return above;
  return at;
}

interface LineProps {
  node: Node;
  index: number;
  selected: boolean;
  chips: Map<string, Row[]>;
  act: Actions;
  costs: boolean;
}

function SpanLine({ node, index, selected, chips, act, costs }: LineProps) {
  const { span } = node;
  const foldable = node.children > 0 || node.group > 1;
  const tokens = span.input_tokens === null && span.output_tokens === null ? "" : `${count(numberOf(span.input_tokens))} / ${count(numberOf(span.output_tokens))}`;
  return (
    <tr role="row" id={`span-${index}`} aria-level={node.depth + 1} aria-rowindex={index + 2} aria-selected={selected}
      {...(foldable ? { "aria-expanded": !node.folded && node.group === 1 } : {})} onClick={() => act.choose(index)}>
      <td role="gridcell">
        <span class="named" style={{ paddingLeft: `${Math.min(node.depth, 24) * 12}px` }}>
          {foldable
            ? <button type="button" class="quiet fold-button" tabIndex={-1} aria-label={node.folded ? "Unfold" : "Fold"} onClick={(event) => { event.stopPropagation(); act.fold(node); }}>{node.folded || node.group > 1 ? "▸" : "▾"}</button>
            : <span class="fold-button" />}
          <Kind operation={span.operation} />
          <span class={span.status_code === "error" ? "clip bad" : "clip"} title={visible(span.name)}>{span.status_code === "error" && "! "}{line(span.name, 60)}</span>
          {node.group > 1 && <span class="chip">× {node.group}</span>}
          {node.orphan && <span class="chip warn" title={`parent ${String(span.parent_span_id)}`}>parent not received</span>}
          {node.early && <span class="chip warn" title="The clocks of two machines differ">begins before its parent</span>}
        </span>
      </td>
      <td role="gridcell"><Chips rows={chips.get(span.span_id) ?? []} /></td>
      <td role="gridcell"><Bar node={node} /></td>
      <td role="gridcell" class="num">{duration(numberOf(span.duration_ns))}</td>
      <td role="gridcell" class="num">{tokens}</td>
      {costs && <td role="gridcell" class="num">{span.cost_usd === null ? "" : cost(numberOf(span.cost_usd))}</td>}
    </tr>
  );
}

function Bar({ node }: { node: Node }) {
  return (
    <span class="lane" aria-hidden="true">
      <i style={{ left: `${node.left * 100}%`, width: `max(2px, ${node.width * 100}%)`, background: kindColour(node.span.operation) }} />
    </span>
  );
}

/** What failed by name, worst first; what passed and what was skipped as counts. */
function Chips({ rows }: { rows: Row[] }) {
  if (rows.length === 0) return null;
  const of = (verdict: string) => rows.filter((row) => verdictOf(row.status, row.passed) === verdict);
  const [failed, errors, passed, skipped] = [of("fail"), of("error"), of("pass"), of("skipped")];
  return (
    <span class="named chips">
      {failed.slice(0, 1).map((row, at) => (
        <VerdictChip key={at} verdict="fail" title={visible(String(row.rationale ?? ""))}>{line(String(row.metric), 22)} {rate(numberOf(row.value))}</VerdictChip>
      ))}
      {failed.length > 1 && <span class="chip bad">+{failed.length - 1}</span>}
      {errors.length > 0 && <VerdictChip verdict="error" title={visible(String(errors[0]?.error ?? ""))}>{errors.length}</VerdictChip>}
      {passed.length > 0 && <VerdictChip verdict="pass" title={visible(passed.map((row) => String(row.metric)).join(", "))}>{passed.length}</VerdictChip>}
      {skipped.length > 0 && (
        <VerdictChip verdict="skipped" title={visible(skipped.map((row) => `${String(row.metric)}: lacks ${String(row.error)}`).join("\n"))}>{skipped.length}</VerdictChip>
      )}
    </span>
  );
}
