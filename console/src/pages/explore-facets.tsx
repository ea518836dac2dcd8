// Facets: the values there are. A click writes a condition into the filter.
import { useMemo } from "preact/hooks";
import { type Table, rowsOf } from "../lib/api";
import { condition } from "../lib/filter";
import { compact, count, numberOf } from "../lib/format";
import { useAsk, withoutWrong } from "../lib/hooks";
import type { Bound } from "../lib/statement";
import { line } from "../lib/text";
import { Panel } from "../ui/panel";
import { narrowed } from "./explore";

const ORDER: ReadonlyArray<readonly [string, string]> = [
  ["service_name", "Service"], ["operation", "Operation"], ["request_model", "Model"], ["status_code", "Status"],
  ["dialect", "Convention"], ["name", "Name"],
];

interface Value {
  v: string | null;
  n: number;
}

function group(table: Table): Map<string, Value[]> {
  const groups = new Map<string, Value[]>();
  for (const row of rowsOf(table)) {
    const facet = String(row.facet);
    const list = groups.get(facet) ?? [];
    list.push({ v: row.v === null ? null : String(row.v), n: numberOf(row.n) ?? 0 });
    groups.set(facet, list);
  }
  return groups;
}

export function Facets({ bound, where }: { bound: Bound | null; where: string }) {
  const asked = withoutWrong(useAsk(bound));
  return (
    <div class="facets-panel">
      <Panel title="Values" asked={asked} bound={bound ?? undefined} flush>
        {(table) => <Groups table={table} where={where} />}
      </Panel>
    </div>
  );
}

function Groups({ table, where }: { table: Table; where: string }) {
  const groups = useMemo(() => group(table), [table]);
  return (
    <div class="facets">
      {ORDER.map(([column, name]) => {
        const values = groups.get(column) ?? [];
        return values.length === 0 ? null : (
          <section key={column} aria-label={name}>
            <h3>{name}</h3>
            <ul>{values.slice(0, 8).map((value) => <Item key={value.v} column={column} value={value} where={where} />)}</ul>
          </section>
        );
      })}
    </div>
  );
}

function Item({ column, value, where }: { column: string; value: Value; where: string }) {
  const text = value.v === null ? "no value" : line(value.v, 80);
  return (
    <li>
      <button type="button" class="v" title={`Only ${text}`} onClick={() => narrowed(where, condition(column, value.v, true))}>
        <span class={value.v === null ? "muted" : ""}>{text}</span>
      </button>
      <span class="n" title={count(value.n)}>{compact(value.n)}</span>
      <button type="button" class="quiet not" title={`Without ${text}`} aria-label={`Without ${text}`}
        onClick={() => narrowed(where, condition(column, value.v, false))}>−</button>
    </li>
  );
}
