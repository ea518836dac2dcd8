// What came since waits behind a button: nothing moves under the pointer.
import { useEffect, useState } from "preact/hooks";
import { columnOf, ask } from "../lib/api";
import { faultOf } from "../lib/filter";
import { count, numberOf } from "../lib/format";
import { bind } from "../lib/statement";
import { now, range, refresh } from "../lib/store";
import C28 from "../../sql/C28.sql";

const EVERY = 15_000;

export function NewSpans({ where, on }: { where: string; on: boolean }) {
  const [fresh, setFresh] = useState(0);
  const live = on && range.value.relative !== "" && !faultOf(where);
  const since = now.value;
  useEffect(() => {
    setFresh(0);
    if (!live) return undefined;
    const abort = new AbortController();
    const look = async () => {
      // A tab that nobody sees asks nothing.
      if (document.hidden) return;
      const bound = bind(C28, { since: new Date(since).toISOString() }, { where: where.trim() === "" ? "true" : where });
      const table = await ask(bound, abort.signal).catch(() => undefined);
      if (table) setFresh(numberOf(columnOf(table, "n")[0]) ?? 0);
    };
    const timer = setInterval(() => void look(), EVERY);
    return () => {
      clearInterval(timer);
      abort.abort();
    };
  }, [where, live, since]);
  if (fresh === 0) return null;
  return <button type="button" onClick={refresh}>{count(fresh)} new</button>;
}
