// One part of the status, whatever it has: scalars as a list, lists of objects as a table, the rest nested.
import type { ComponentChildren } from "preact";
import { bytes, count, seconds, value as number } from "../lib/format";
import { isBad } from "../lib/healthy";
import { visible } from "../lib/text";
import { Time } from "../ui/parts";

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** "max_running" as "max running"; the unit goes with the value. */
export function titleOf(name: string): string {
  const words = visible(name).replace(/_/g, " ").replace(/ (bytes|seconds)$/, "");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function scalar(name: string, given: Json): ComponentChildren {
  if (given === null || given === undefined) return <span class="muted">–</span>;
  if (typeof given === "boolean") return given ? "yes" : "no";
  if (typeof given === "number") {
    if (/(^|_)bytes$/.test(name)) return bytes(given);
    if (/(^|_)seconds$/.test(name)) return seconds(given);
    return Number.isInteger(given) ? count(given) : number(given);
  }
  const text = String(given);
  if (/^\d{4}-\d\d-\d\dT/.test(text)) return <Time at={text} />;
  return visible(text);
}

const isObject = (value: Json): value is { [key: string]: Json } => typeof value === "object" && value !== null && !Array.isArray(value);
const DEEP = 4;

export function Part({ name, value, depth = 0 }: { name: string; value: Json; depth?: number }) {
  if (depth > DEEP) return <code>{visible(JSON.stringify(value))}</code>;
  if (Array.isArray(value)) {
    if (value.length === 0) return <span class="muted">none</span>;
    if (value.every(isObject)) return <Rows name={name} rows={value} depth={depth} />;
    return <>{value.map((each, at) => <div key={at}><Part name={name} value={each} depth={depth + 1} /></div>)}</>;
  }
  if (!isObject(value)) return <>{scalar(name, value)}</>;
  const entries = Object.entries(value);
  if (entries.length === 0) return <span class="muted">none</span>;
  const flat = entries.filter(([, each]) => !Array.isArray(each) && !isObject(each));
  const deep = entries.filter(([, each]) => Array.isArray(each) || isObject(each));
  return (
    <div class="stack">
      {flat.length > 0 && <dl class="kv">{flat.map(([key, each]) => [<dt key={`t${key}`}>{titleOf(key)}</dt>, <dd key={`d${key}`} class={isBad(key, each, value) ? "bad" : ""}>{isBad(key, each, value) && "! "}{scalar(key, each)}</dd>])}</dl>}
      {deep.map(([key, each]) => <section key={key}><h3>{titleOf(key)}</h3><Part name={key} value={each} depth={depth + 1} /></section>)}
    </div>
  );
}

function Rows({ name, rows, depth }: { name: string; rows: Array<{ [key: string]: Json }>; depth: number }) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const numeric = (column: string) => rows.some((row) => typeof row[column] === "number");
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={titleOf(name)}>
      <table>
        <thead><tr>{columns.map((column) => <th scope="col" key={column} class={numeric(column) ? "num" : ""}>{titleOf(column)}</th>)}</tr></thead>
        <tbody>{rows.map((row, at) => (
          <tr key={at}>{columns.map((column) => <td key={column} class={numeric(column) ? "num" : ""}><Cell name={column} value={row[column] ?? null} row={row} depth={depth} /></td>)}</tr>
        ))}</tbody>
      </table>
    </div>
  );
}

/** An object in a cell is one line: "ok 204, skipped 240". */
function Cell({ name, value, row, depth }: { name: string; value: Json; row: { [key: string]: Json }; depth: number }) {
  if (isObject(value)) {
    const entries = Object.entries(value);
    return entries.length === 0 ? <span class="muted">–</span> : <>{entries.map(([key, each]) => `${visible(key)} ${typeof each === "number" ? count(each) : visible(JSON.stringify(each))}`).join(", ")}</>;
  }
  if (isBad(name, value, row)) return <span class="bad">! {scalar(name, value)}</span>;
  return <Part name={name} value={value} depth={depth + 1} />;
}
