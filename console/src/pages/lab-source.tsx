// What the playground asks: items of a dataset, the input of a span, or a text of one's own.
import { useMemo } from "preact/hooks";
import { type Table, rowsOf } from "../lib/api";
import { count } from "../lib/format";
import { type Asked, useAsk, useJson } from "../lib/hooks";
import { type Head, labPath, textOf } from "../lib/lab";
import { MOST_ITEMS, type PlaygroundItem, itemOfSpan } from "../lib/playground";
import { type Bound, bind } from "../lib/statement";
import { address, setState, tenant } from "../lib/store";
import { line, visible } from "../lib/text";
import { FaultBox, Panel } from "../ui/panel";
import { Hostile, TraceLink } from "../ui/parts";
import { Keep } from "./lab-keep";
import C35 from "../../sql/C35.sql";

/** Items to choose from. */
const PAGE = 50;

export interface Source {
  from: "dataset" | "span" | "text";
  heads: Asked<{ datasets: Head[] }>;
  /** The dataset with its version, such as `refunds@7`; empty where the items are of none. */
  dataset: string;
  total: number;
  asked: Asked<PlaygroundItem[]> | Asked<Table>;
  bound: Bound | null;
  all: PlaygroundItem[];
  chosen: PlaygroundItem[];
}

function idOf(item: PlaygroundItem): string {
  return item.item_id ?? "";
}

export function useSource(): Source {
  const { from = "", dataset = "", items = "", trace = "", span = "", text = "" } = address.value.state;
  const heads = useJson<{ datasets: Head[] }>(labPath("datasets", { limit: "1000" }, tenant.value));
  const there = (heads.data?.datasets ?? []).filter((head) => head.items > 0);
  const way = from === "text" || from === "span" ? from : trace !== "" && from === "" ? "span" : heads.data && there.length === 0 ? "text" : "dataset";
  const head = way === "dataset" ? (there.find((each) => each.name === dataset) ?? there[0]) : undefined;
  const name = head ? `${head.name}@${head.version}` : "";
  const listed = useJson<PlaygroundItem[]>(name === "" ? null : labPath(`datasets/${encodeURIComponent(name)}/items`, { format: "json", limit: String(PAGE) }, tenant.value));
  const bound = useMemo(() => (way === "span" && trace !== "" ? bind(C35, { id: trace, span }) : null), [way, trace, span]);
  const taken = useAsk(bound);
  const all = useMemo((): PlaygroundItem[] => {
    if (way === "text") return text === "" ? [] : [{ input: text }];
    if (way === "dataset") return listed.data ?? [];
    const item = taken.data ? itemOfSpan(rowsOf(taken.data), trace, span) : undefined;
    return item ? [item] : [];
  }, [way, text, listed.data, taken.data, trace, span]);
  const wanted = items.split(",");
  const picked = all.filter((item) => wanted.includes(idOf(item))).slice(0, MOST_ITEMS);
  const chosen = way === "dataset" && picked.length > 0 ? picked : all.slice(0, 1);
  return { from: way, heads, dataset: name, total: head?.items ?? 0, asked: way === "span" ? taken : listed, bound, all, chosen };
}

export function WhatIsAsked({ source }: { source: Source }) {
  const { trace = "" } = address.value.state;
  const ways = [["dataset", "Items of a dataset"], ...(trace === "" ? [] : [["span", "The input of a span"]]), ["text", "A text"]] as Array<[string, string]>;
  const tools = ways.map(([way, label]) => (
    <button key={way} type="button" aria-pressed={source.from === way} onClick={() => setState({ from: way })}>{label}</button>
  ));
  return (
    <Panel title="What is asked" asked={source.heads} tools={tools} bound={source.bound ?? undefined} flush>
      {({ datasets }) => (
        <>
          {source.asked.fault && <FaultBox fault={source.asked.fault} retry={source.asked.retry} />}
          {source.from === "dataset" && <OfDataset source={source} heads={datasets} />}
          {source.from === "span" && <OfSpan source={source} heads={datasets} />}
          {source.from === "text" && <OwnText />}
        </>
      )}
    </Panel>
  );
}

function OwnText() {
  const { text = "" } = address.value.state;
  return (
    <label class="stack-label small padded-all">Text
      <textarea rows={3} value={text} placeholder="What is asked" onChange={(event) => setState({ text: event.currentTarget.value }, true)} />
    </label>
  );
}

function OfDataset({ source, heads }: { source: Source; heads: Head[] }) {
  const ids = source.chosen.map(idOf);
  const flip = (id: string) => {
    const next = ids.includes(id) ? ids.filter((each) => each !== id) : [...ids, id];
    if (next.length > 0 && next.length <= MOST_ITEMS) setState({ items: next.join(",") }, true);
  };
  return (
    <>
      <div class="row padded-line">
        <label class="row small">Dataset
          <select value={source.dataset.replace(/@\d+$/, "")} onChange={(event) => setState({ dataset: event.currentTarget.value, items: "" })}>
            {heads.filter((head) => head.items > 0).map((head) => <option key={head.dataset_id} value={head.name}>{visible(head.name)}</option>)}
          </select>
        </label>
        <span class="muted small">{count(ids.length)} of {count(source.total)} items chosen, at most {MOST_ITEMS}{source.total > PAGE && `; the first ${PAGE} are listed`}</span>
      </div>
      <div class="scroll short" tabIndex={0} role="group" aria-label="Items to choose from">
        <table>
          <thead><tr><th scope="col"><span class="hidden">Chosen</span></th><th scope="col">Input</th><th scope="col">Expected</th></tr></thead>
          <tbody>{source.all.map((item) => (
            <tr key={idOf(item)} aria-selected={ids.includes(idOf(item))}>
              <td><input type="checkbox" aria-label={`Ask ${line(textOf(item.input), 60)}`} checked={ids.includes(idOf(item))} onChange={() => flip(idOf(item))} /></td>
              <td>{line(textOf(item.input), 200)}</td><td>{line(textOf(item.expected), 120)}</td>
            </tr>
          ))}</tbody>
        </table>
      </div>
    </>
  );
}

function OfSpan({ source, heads }: { source: Source; heads: Head[] }) {
  const { trace = "", span = "" } = address.value.state;
  const item = source.all[0];
  if (source.asked.data === undefined) return null;
  if (!item) return <p class="empty">This span was asked nothing that is a text, or it is not here. <TraceLink id={trace} span={span}>Its trace</TraceLink></p>;
  return (
    <div class="stack padded-all">
      <dl class="kv">
        <dt>Input</dt><dd class="text"><Hostile text={typeof item.input === "string" ? item.input : JSON.stringify(item.input, null, 2)} most={3000} /></dd>
        <dt>Contexts</dt><dd>{count(item.contexts?.length ?? 0)} {item.contexts?.length === 1 ? "document" : "documents"}</dd>
        <dt>From</dt><dd><TraceLink id={trace} span={span} /></dd>
      </dl>
      {heads.length > 0 && <Keep item={item} heads={heads} message="from the playground" />}
    </div>
  );
}
