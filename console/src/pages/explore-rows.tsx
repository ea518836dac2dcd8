// The explorer's rows.
import { useMemo, useState } from "preact/hooks";
import { type Row, rowsOf } from "../lib/api";
import { cost, count, duration, numberOf } from "../lib/format";
import { fixed, stepOf } from "../lib/range";
import { address, hrefOf, now, remember, remembered, setRange, setState, span } from "../lib/store";
import { line } from "../lib/text";
import { useAsk } from "../lib/hooks";
import { leads } from "../lib/walk";
import { bind } from "../lib/statement";
import { Empty } from "../ui/panel";
import { Kind } from "../ui/kind";
import { Link, Time } from "../ui/parts";
import { VirtualTable } from "../ui/virtual";
import { type More, keyOf } from "./explore";
import C10 from "../../sql/C10.sql";
import C22 from "../../sql/C22.sql";

interface ColumnDef {
  key: string;
  name: string;
  num?: boolean;
  cell: (row: Row) => preact.ComponentChildren;
}

const text = (value: unknown, most = 120) => (value === null || value === undefined ? <span class="muted">–</span> : line(String(value), most));

const COLUMNS: readonly ColumnDef[] = [
  { key: "service_name", name: "Service", cell: (row) => text(row.service_name) },
  { key: "name", name: "Name", cell: (row) => <span class="named"><Kind operation={row.operation} />{text(row.name, 60)}</span> },
  { key: "request_model", name: "Model", cell: (row) => text(row.request_model) },
  { key: "duration_ns", name: "Duration", num: true, cell: (row) => duration(numberOf(row.duration_ns)) },
  { key: "tokens", name: "Tokens in/out", num: true, cell: (row) => tokens(row) },
  { key: "cost_usd", name: "Cost", num: true, cell: (row) => cost(numberOf(row.cost_usd)) },
  { key: "status_code", name: "Status", cell: (row) => (row.status_code === "error" ? <span class="chip bad">! error</span> : text(row.status_code)) },
  { key: "question", name: "Question", cell: (row) => <div class="clip">{text(row.question)}</div> },
  { key: "answer", name: "Answer", cell: (row) => <div class="clip">{text(row.answer)}</div> },
];

function tokens(row: Row): string {
  const [input, output] = [numberOf(row.input_tokens), numberOf(row.output_tokens)];
  return input === null && output === null ? "–" : `${count(input)} / ${count(output)}`;
}

const FIRST = "service_name,name,request_model,duration_ns,tokens,status_code,question,answer";

interface RowsProps {
  rows: Row[];
  selected: number;
  more: More;
  where: string;
  retry: string;
}

export function ExploreRows({ rows, selected, more, where, retry }: RowsProps) {
  const chosen = (address.value.state.cols ?? (remembered("cols") || FIRST)).split(",");
  const columns = COLUMNS.filter((column) => chosen.includes(column.key));
  if (rows.length === 0) return <Nothing where={where} retry={retry} />;
  const head = (
    <tr>
      <th scope="col">Time</th>
      {columns.map((column) => <th key={column.key} scope="col" class={column.num ? "num" : ""}>{column.name}</th>)}
      <th scope="col"><span class="hidden">Open</span></th>
    </tr>
  );
  const row = (index: number) => <OneRow key={index} row={rows[index] as Row} index={index} selected={index === selected} columns={columns} />;
  return (
    <>
      <Choose chosen={chosen} />
      <VirtualTable rows={rows.length} height={31} label="Spans" head={head} columns={columns.length + 2} row={row} focus={selected} class="result" />
      {!more.end && (
        <div class="under row"><button type="button" disabled={more.busy} onClick={more.load}>Older spans</button></div>
      )}
    </>
  );
}

function OneRow({ row, index, selected, columns }: { row: Row; index: number; selected: boolean; columns: readonly ColumnDef[] }) {
  return (
    <tr aria-rowindex={index + 2} {...(selected ? { "aria-current": "true" as const } : {})} onClick={(event) => leads(event) || setState({ row: keyOf(row) }, true)}>
      <td class="nowrap">
        <button type="button" class="cell" onClick={() => setState({ row: keyOf(row) }, true)}><Time at={String(row.start_time)} digits={3} /></button>
      </td>
      {columns.map((column) => <td key={column.key} class={column.num ? "num" : ""}>{column.cell(row)}</td>)}
      <td><Link href={hrefOf("trace", String(row.trace_id), { span: String(row.span_id) })} class="nowrap">Trace</Link></td>
    </tr>
  );
}

function Choose({ chosen }: { chosen: string[] }) {
  const [open, setOpen] = useState(false);
  const flip = (key: string) => {
    const next = COLUMNS.map((column) => column.key).filter((each) => (each === key) !== chosen.includes(each)).join(",");
    remember("cols", next);
    setState({ cols: next }, true);
  };
  return (
    <div class="under row">
      <button type="button" class="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>Columns</button>
      {open && COLUMNS.map((column) => (
        <label key={column.key} class="small"><input type="checkbox" checked={chosen.includes(column.key)} onChange={() => flip(column.key)} />{column.name}</label>
      ))}
    </div>
  );
}

/** How many spans another filter would show in this time range. */
function useCount(where: string | null): number | undefined {
  const { from, to } = fixed(span.value);
  const step = stepOf(span.value, 1).sql;
  const bound = useMemo(() => (where === null ? null : bind(C10, { from, to, step }, { where: where === "" ? "true" : where })), [where, from, to, step]);
  const { data, busy } = useAsk(bound);
  // The count of another filter would stand here until this one's is there.
  return busy || !data ? undefined : rowsOf(data).reduce((sum, row) => sum + (numberOf(row.n) ?? 0), 0);
}

/** No row: what to change, and where the newest span is. */
function Nothing({ where, retry }: { where: string; retry: string }) {
  const others = useCount(where === "" ? null : retry);
  const newest = useAsk(bind(C22, {}));
  const at = newest.data?.data[0]?.[0];
  const days = at ? Math.ceil((now.value - Date.parse(String(at))) / 86_400_000) + 1 : 0;
  return (
    <Empty title={where === "" ? "No span in this time range" : "No span passes this filter in this time range"}>
      {where !== "" && (
        <p><button type="button" onClick={() => setState({ where: retry })}>{retry === "" ? "Without the filter" : "Without the last condition"}</button>
          {others !== undefined && <> there {others === 1 ? "is" : "are"} {count(others)}</>}</p>
      )}
      {at ? (
        <p>The newest span began <Time at={String(at)} />.{" "}
          <button type="button" onClick={() => setRange({ relative: `${days}d`, from: "", to: "" })}>Show the last {days} days</button></p>
      ) : newest.data && <p>No span has arrived yet. The <Link href={hrefOf("quality")}>first page</Link> shows how to send one.</p>}
    </Empty>
  );
}
