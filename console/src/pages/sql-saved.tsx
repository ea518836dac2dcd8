// Queries under a name, kept in this browser; a link shares one.
import { useState } from "preact/hooks";
import { remember, remembered, say } from "../lib/store";
import { line } from "../lib/text";

interface Saved {
  name: string;
  sql: string;
}

/** Most that are kept: the oldest goes. */
const MOST = 200;

function saved(): Saved[] {
  try {
    const list: unknown = JSON.parse(remembered("queries") || "[]");
    return Array.isArray(list) ? list.filter((each): each is Saved => typeof each?.name === "string" && typeof each.sql === "string") : [];
  } catch {
    return [];
  }
}

export function SavedQueries({ text, pick }: { text: string; pick: (sql: string) => void }) {
  const [list, setList] = useState(saved);
  const [name, setName] = useState("");
  const set = (next: Saved[]) => {
    remember("queries", JSON.stringify(next));
    setList(next);
  };
  const keep = (event: Event) => {
    event.preventDefault();
    const own = name.trim();
    set([{ name: own, sql: text }, ...list.filter((each) => each.name !== own)].slice(0, MOST));
    setName("");
    say(`Saved as ${own}`);
  };
  return (
    <>
      <form class="row" aria-label="Save the query" onSubmit={keep}>
        <input type="text" class="grow" required maxLength={80} aria-label="Name of the query" placeholder="Name" value={name} onInput={(event) => setName(event.currentTarget.value)} />
        <button type="submit" disabled={name.trim() === "" || text.trim() === ""}>Save</button>
      </form>
      {list.length === 0 && <p class="muted small">The query in the editor is saved under a name. It stays in this browser.</p>}
      <ul>
        {list.map((each) => (
          <li key={each.name} class="row">
            <button type="button" class="item grow" title={each.sql} onClick={() => pick(each.sql)}>{line(each.name, 80)}</button>
            <button type="button" class="quiet" aria-label={`Forget ${line(each.name, 80)}`} onClick={() => set(list.filter((other) => other !== each))}>×</button>
          </li>
        ))}
      </ul>
    </>
  );
}
