// Beside the editor: tables and their columns, examples, what ran before. History stays in this browser.
import { useEffect, useState } from "preact/hooks";
import type { Documented } from "../editor/editor";
import { columns } from "../lib/columns";
import { remember, remembered } from "../lib/store";
import { line, visible } from "../lib/text";
import { EXAMPLES } from "./sql-examples";
import { SavedQueries } from "./sql-saved";

const MOST = 50;

function kept(): string[] {
  try {
    const list: unknown = JSON.parse(remembered("history") || "[]");
    return Array.isArray(list) ? list.filter((each): each is string => typeof each === "string") : [];
  } catch {
    return [];
  }
}

export function keep(query: string): void {
  const list = [query, ...kept().filter((each) => each !== query)].slice(0, MOST);
  remember("history", JSON.stringify(list));
}

interface SideProps {
  /** What stands in the editor. */
  text: string;
  pick: (sql: string) => void;
  insert: (word: string) => void;
}

export function SideList({ text, pick, insert }: SideProps) {
  const [tab, setTab] = useState<"tables" | "examples" | "saved" | "history">("examples");
  return (
    <section class="panel sql-side" aria-label="Tables, examples, saved queries, history">
      <header class="tabs">
        {(["examples", "tables", "saved", "history"] as const).map((name) => (
          <button key={name} type="button" class="quiet" aria-pressed={tab === name} onClick={() => setTab(name)}>
            {name[0]?.toUpperCase()}{name.slice(1)}
          </button>
        ))}
      </header>
      <div class="body" tabIndex={0} role="group" aria-label={tab}>
        {tab === "tables" && <Tables insert={insert} />}
        {tab === "examples" && <List items={EXAMPLES.map(({ name, sql }) => [name, sql])} pick={pick} />}
        {tab === "saved" && <SavedQueries text={text} pick={pick} />}
        {tab === "history" && <History pick={pick} />}
      </div>
    </section>
  );
}

function List({ items, pick }: { items: Array<readonly [string, string]>; pick: (sql: string) => void }) {
  return (
    <ul>
      {items.map(([name, sql]) => (
        <li key={sql}><button type="button" class="item" title={sql} onClick={() => pick(sql)}>{name}</button></li>
      ))}
    </ul>
  );
}

function History({ pick }: { pick: (sql: string) => void }) {
  const [list, setList] = useState(kept);
  if (list.length === 0) return <p class="muted small">Queries that ran stand here. They stay in this browser.</p>;
  const clear = () => {
    remember("history", "[]");
    setList([]);
  };
  return (
    <>
      <List items={list.map((sql) => [line(sql, 90), sql])} pick={pick} />
      <button type="button" class="quiet" onClick={clear}>Forget all</button>
    </>
  );
}

function Tables({ insert }: { insert: (word: string) => void }) {
  const [all, setAll] = useState<Documented[] | undefined>();
  const [wrong, setWrong] = useState("");
  useEffect(() => {
    columns().then(setAll, (error: unknown) => setWrong(String(error instanceof Error ? error.message : error)));
  }, []);
  if (wrong) return <p class="bad small">{visible(wrong)}</p>;
  if (!all) return <p class="muted small">Loading</p>;
  return (
    <>
      {[...new Set(all.map((each) => each.table))].map((table) => (
        <details key={table}>
          <summary>{visible(table)} <span class="muted small">{all.filter((each) => each.table === table).length}</span></summary>
          <ul>
            {all.filter((each) => each.table === table).map((each) => (
              <li key={each.column}>
                <button type="button" class="item column" title={visible(each.doc)} onClick={() => insert(each.column)}>
                  <span class="mono">{visible(each.column)}</span> <span class="muted small clip">{visible(each.type)}</span>
                </button>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </>
  );
}
