// The items of a metric: worst first, or in a random order for marks that can correct the rate.
import { useEffect, useMemo, useState } from "preact/hooks";
import { type Row, rowsOf } from "../lib/api";
import { evidenceOf } from "../lib/evidence";
import { numberOf, value } from "../lib/format";
import { useAsk, withoutWrong } from "../lib/hooks";
import { itemOf, namesOf, stepped } from "../lib/items";
import { useKeys } from "../lib/keys";
import { address, goTo, hrefOf, say, setState } from "../lib/store";
import { visible } from "../lib/text";
import { bind } from "../lib/statement";
import { Panel } from "../ui/panel";
import { TextWithMark } from "../ui/message";
import { Hostile, Link, Time, VerdictChip, verdictOf } from "../ui/parts";
import { annotate } from "./trace-annotations";
import { type Scope, bindIn } from "./scores-metric";
import C12 from "../../sql/C12.sql";
import C12q from "../../sql/C12q.sql";

const ORDERS: Record<string, (up: boolean) => string> = {
  worst: (up) => (up ? "value" : "value DESC"),
  best: (up) => (up ? "value DESC" : "value"),
  random: () => "md5(concat(trace_id, span_id))",
};

/** What is shown beside the items that were judged, as the address says it, and its status. */
const OTHERS: Record<string, string> = { errors: "error", skipped: "skipped" };

export function Items({ scope, up }: { scope: Scope; up: boolean }) {
  const { order: wanted = "worst", show = "" } = address.value.state;
  const status = OTHERS[show] ?? "ok";
  const name = status === "ok" ? wanted : show;
  const order = status === "ok" ? ((ORDERS[name] ?? ORDERS.worst)?.(up) ?? "value") : "span_time DESC";
  const bound = useMemo(() => bindIn(scope, C12, { status }, { order }), [scope, order, status]);
  const asked = withoutWrong(useAsk(bound));
  const rows = useMemo(() => (asked.data ? rowsOf(asked.data) : []), [asked.data]);
  const texts = useTexts(rows);
  const tools = (
    <>
      {["worst", "best", "random"].map((each) => (
        <button key={each} type="button" aria-pressed={each === name || (each === "worst" && status === "ok" && !(name in ORDERS))} onClick={() => setState({ order: each === "worst" ? "" : each, show: "", item: "" }, true)}>
          {each === "random" ? "Random order" : `${each[0]?.toUpperCase()}${each.slice(1)} first`}
        </button>
      ))}
      <button type="button" aria-pressed={show === "errors"} onClick={() => setState({ show: "errors", item: "" }, true)}>Errors</button>
      <button type="button" aria-pressed={show === "skipped"} onClick={() => setState({ show: "skipped", item: "" }, true)}>Skipped</button>
    </>
  );
  const sub = status !== "ok" ? "the newest 100" : name === "random" ? "marks from the start of this order correct the rate" : "the first 100";
  return (
    <Panel title="Items" asked={asked} bound={bound} tools={tools} sub={sub}>
      {() => (rows.length === 0 ? <p class="empty">{status === "ok" ? "No item was judged in this time range." : `Nothing ${status === "error" ? "failed" : "was skipped"} in this time range.`}</p> : <List rows={rows} texts={texts} scope={scope} />)}
    </Panel>
  );
}

interface Texts {
  question: string;
  answer: string;
}

/** Questions and answers of the items, by a second statement for their traces only. */
function useTexts(rows: Row[]): Map<string, Texts> {
  const ids = [...new Set(rows.map((row) => String(row.trace_id)))].filter((id) => /^[0-9a-f]{32}$/.test(id));
  const list = ids.map((id) => `'${id}'`).join(", ");
  const asked = useAsk(useMemo(() => (list === "" ? null : bind(C12q, {}, { ids: list })), [list]));
  return useMemo(() => {
    const map = new Map<string, Texts>();
    for (const row of asked.data ? rowsOf(asked.data) : []) {
      const trace = String(row.trace_id);
      const own = { question: String(row.question ?? ""), answer: String(row.answer ?? "") };
      const whole = map.get(trace) ?? { question: "", answer: "" };
      map.set(`${trace} ${String(row.span_id)}`, own);
      map.set(trace, { question: whole.question || own.question, answer: whole.answer || own.answer });
    }
    return map;
  }, [asked.data]);
}

/** The span's own texts; what it lacks comes from its trace, or is the sentence that was judged. */
function textsFor(texts: Map<string, Texts>, row: Row): Texts {
  const own = texts.get(`${String(row.trace_id)} ${String(row.span_id)}`);
  const whole = texts.get(String(row.trace_id));
  return {
    question: own?.question || whole?.question || "",
    answer: own?.answer || whole?.answer || evidenceOf(row)?.claims.parts[0] || "",
  };
}

function List({ rows, texts, scope }: { rows: Row[]; texts: Map<string, Texts>; scope: Scope }) {
  const [marks, setMarks] = useState<Record<string, string>>({});
  const names = useMemo(() => namesOf(rows), [rows]);
  const at = placeOf(names);
  const mark = (row: Row | undefined, label: string) => {
    // Only a verdict can be right or wrong.
    if (row?.status !== "ok") return;
    let before = "";
    setMarks((old) => {
      before = old[itemOf(row)] ?? "";
      return { ...old, [itemOf(row)]: label };
    });
    annotate({ trace_id: String(row.trace_id), span_id: String(row.span_id), name: scope.metric, label }).then(
      () => say(`Marked ${label}`),
      (error: unknown) => {
        setMarks((old) => ({ ...old, [itemOf(row)]: before }));
        say(error instanceof Error ? error.message : String(error));
      },
    );
  };
  useItemKeys(rows, names, mark);
  return (
    <ol class="items">
      {rows.map((row, index) => (
        <Item key={names[index]} row={row} current={index === at} mark={marks[itemOf(row)] ?? ""} set={(label) => mark(row, label)}
          texts={textsFor(texts, row)} />
      ))}
    </ol>
  );
}

/** Where the address says that the reader is; keys ask it anew, for they come faster than a page is drawn. */
function placeOf(names: string[]): number {
  return Math.max(0, names.indexOf(address.value.state.item ?? ""));
}

function useItemKeys(rows: Row[], names: string[], mark: (row: Row | undefined, label: string) => void): void {
  const walk = (by: number) => {
    const next = stepped(names, address.value.state.item ?? "", by);
    if (next !== undefined) setState({ item: next }, true);
  };
  const open = () => {
    const row = rows[placeOf(names)];
    if (row) goTo(hrefOf("trace", String(row.trace_id), { span: String(row.span_id), view: "conversation" }));
  };
  useKeys([
    { keys: "j", what: "Next item", run: () => walk(1) },
    { keys: "k", what: "Item before", run: () => walk(-1) },
    { keys: "Enter", what: "Open the trace", run: open },
    { keys: "1", what: "The evaluator is right", run: () => mark(rows[placeOf(names)], "right") },
    { keys: "2", what: "The evaluator is wrong", run: () => mark(rows[placeOf(names)], "wrong") },
  ], [rows]);
}

interface ItemProps {
  row: Row;
  current: boolean;
  mark: string;
  set: (label: string) => void;
  texts: Texts;
}

function Item({ row, current, mark, set, texts }: ItemProps) {
  const evidence = useMemo(() => evidenceOf(row, { answers: texts.answer === "" ? [] : [texts.answer], documents: [] }), [row, texts.answer]);
  const best = evidence?.supports[0];
  const [element, setElement] = useState<HTMLLIElement | null>(null);
  useEffect(() => {
    if (current && address.value.state.item) element?.scrollIntoView({ block: "nearest" });
  }, [current, element]);
  return (
    <li class="item-card" ref={setElement} {...(current ? { "aria-current": "true" as const } : {})}>
      <ItemHead row={row} mark={mark} set={set} />
      {texts.question && <p class="text clamp"><span class="muted">Q </span><Hostile text={texts.question} most={300} /></p>}
      {texts.answer && <div class="answer"><span class="muted">A </span><TextWithMark text={texts.answer} marks={row.passed === false ? evidence?.claims : undefined} /></div>}
      {best && <p class="small text"><span class="muted">Best evidence{best.document > 0 ? `, document ${best.document}` : ""}: </span><mark class="support"><Hostile text={best.parts.join(" … ")} most={500} /></mark></p>}
      {row.error !== null && <p class="small text">{row.status === "skipped" ? "lacks " : ""}<Hostile text={String(row.error)} most={800} /></p>}
      {!evidence && row.rationale !== null && <p class="small text"><Hostile text={String(row.rationale)} most={500} /></p>}
    </li>
  );
}

function ItemHead({ row, mark, set }: Pick<ItemProps, "row" | "mark" | "set">) {
  const probability = numberOf(row.inclusion_probability) ?? 1;
  return (
    <div class="row">
      {row.status === "ok" && <strong class="score-value">{row.value === null ? "–" : value(numberOf(row.value))}</strong>}
      <VerdictChip verdict={verdictOf(row.status, row.passed)} />
      <span class="muted small">{visible(String(row.service_name ?? ""))}{row.request_model ? `, ${visible(String(row.request_model))}` : ""}, <Time at={String(row.span_time)} />{probability < 1 ? `, stands for ${value(1 / probability)}` : ""}</span>
      <span class="grow" />
      {row.status === "ok" && (
        <>
          <button type="button" aria-pressed={mark === "right"} onClick={() => set("right")} title="The evaluator is right, key 1">✓ right</button>
          <button type="button" aria-pressed={mark === "wrong"} onClick={() => set("wrong")} title="The evaluator is wrong, key 2">✗ wrong</button>
        </>
      )}
      <Link class="button" href={hrefOf("trace", String(row.trace_id), { span: String(row.span_id), view: "conversation" })}>Trace</Link>
    </div>
  );
}
