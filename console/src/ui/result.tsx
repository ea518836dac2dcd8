// A result as a table: virtual, sorted by a click on a head, a trace id is a link, a long cell opens.
import { useMemo, useState } from "preact/hooks";
import type { Column, Table } from "../lib/api";
import { numberOf, value } from "../lib/format";
import { line, visible } from "../lib/text";
import { Modal } from "./panel";
import { CopyButton, Time, TraceLink } from "./parts";
import { VirtualTable } from "./virtual";

interface Sort {
  column: number;
  down: boolean;
}

export function ResultTable({ table }: { table: Table }) {
  const [sort, setSort] = useState<Sort | undefined>();
  const [open, setOpen] = useState<{ name: string; text: string } | undefined>();
  const order = useMemo(() => orderOf(table, sort), [table, sort]);
  const head = (
    <tr>
      <th scope="col" class="num">#</th>
      {table.columns.map((column, at) => (
        <th key={at} scope="col" class={isNumber(column) ? "num" : ""} aria-sort={sort?.column === at ? (sort.down ? "descending" : "ascending") : "none"}>
          <button type="button" class="quiet" title={column.type} onClick={() => setSort(next(sort, at))}>
            {visible(column.name)}{sort?.column === at ? (sort.down ? " ↓" : " ↑") : ""}
          </button>
        </th>
      ))}
    </tr>
  );
  const row = (index: number) => {
    const at = order[index] ?? index;
    return (
      <tr key={at} aria-rowindex={index + 2}>
        <td class="num muted">{index + 1}</td>
        {table.columns.map((column, c) => (
          <Cell key={c} column={column} cell={table.data[c]?.[at]} open={(text) => setOpen({ name: column.name, text })} />
        ))}
      </tr>
    );
  };
  return (
    <>
      <div data-walk><VirtualTable rows={table.rows} height={31} label="Result" head={head} columns={table.columns.length + 1} row={row} class="result" /></div>
      {open && (
        <Modal title={open.name} close={() => setOpen(undefined)}>
          <div class="stack"><pre class="code">{visible(open.text)}</pre><div><CopyButton text={open.text} what="Value" /></div></div>
        </Modal>
      )}
    </>
  );
}

function next(sort: Sort | undefined, column: number): Sort | undefined {
  if (sort?.column !== column) return { column, down: false };
  return sort.down ? undefined : { column, down: true };
}

function isNumber(column: Column): boolean {
  return /^(bigint|integer|smallint|double|real|numeric|decimal|float|int|uint|u?int\d+)/i.test(column.type);
}

function orderOf(table: Table, sort: Sort | undefined): number[] {
  const order = Array.from({ length: table.rows }, (_, at) => at);
  if (!sort) return order;
  const values = table.data[sort.column] ?? [];
  const sign = sort.down ? -1 : 1;
  return order.sort((a, b) => {
    const [left, right] = [values[a], values[b]];
    if (left === null || right === null) return left === right ? 0 : left === null ? 1 : -1;
    const [x, y] = [numberOf(left), numberOf(right)];
    if (x !== null && y !== null) return sign * (x - y);
    return sign * (String(left) < String(right) ? -1 : String(left) > String(right) ? 1 : 0);
  });
}

const TRACE = /^[0-9a-f]{32}$/;

function Cell({ column, cell, open }: { column: Column; cell: unknown; open: (text: string) => void }) {
  if (cell === null || cell === undefined) return <td class="muted">NULL</td>;
  if (typeof cell === "number") return <td class="num" title={String(cell)}>{isNumber(column) || Number.isInteger(cell) ? shown(cell) : value(cell)}</td>;
  if (typeof cell === "boolean") return <td>{cell ? "true" : "false"}</td>;
  const text = typeof cell === "object" ? JSON.stringify(cell) : String(cell);
  if (column.type.startsWith("timestamp")) return <td class="nowrap"><Time at={text} digits={3} /></td>;
  if (TRACE.test(text) && column.name.endsWith("trace_id")) return <td><TraceLink id={text} /></td>;
  if (isNumber(column)) return <td class="num">{text}</td>;
  if (text.length <= 60) return <td><div class="clip">{line(text)}</div></td>;
  return <td><button type="button" class="cell clip" onClick={() => open(text)}>{line(text, 160)}</button></td>;
}

function shown(number: number): string {
  return Number.isInteger(number) ? String(number) : value(number);
}
