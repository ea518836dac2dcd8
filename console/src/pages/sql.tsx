// Page 10: any question. A query in the address waits for "Run"; leaving cancels what runs.
import { useEffect, useRef, useState } from "preact/hooks";
import { Fault, type Table, ask, download } from "../lib/api";
import { csv, save } from "../lib/csv";
import { useKeys } from "../lib/keys";
import { address, copy, say, setState } from "../lib/store";
import { plain } from "../lib/statement";
import { EditorBox } from "../ui/editor-box";
import { Bars, FaultBox, psqlOf } from "../ui/panel";
import { Place } from "../ui/place";
import { ResultTable } from "../ui/result";
import { Top } from "../ui/shell";
import { EXAMPLES } from "./sql-examples";
import { Plot } from "./sql-plot";
import { SideList, keep } from "./sql-side";

interface Running {
  table?: Table;
  fault?: Fault;
  busy?: boolean;
  cancelled?: boolean;
  query: string;
}

export default function SqlPage() {
  const [{ text, source }, set] = useState({ text: address.value.state.q ?? EXAMPLES[0]?.sql ?? "", source: 0 });
  const setText = (next: string) => set((old) => ({ ...old, text: next }));
  const bring = (next: string) => set((old) => ({ text: next, source: old.source + 1 }));
  const [state, setRunning] = useState<Running>({ query: "" });
  const abort = useRef<AbortController | undefined>(undefined);
  const inAddress = address.value.state.q;
  useEffect(() => {
    if (inAddress !== undefined && inAddress !== text) bring(inAddress);
  }, [inAddress]);
  useEffect(() => () => abort.current?.abort(), []);
  const run = (query = text) => void start(query, abort, setRunning, () => setState({ q: query }, true));
  const cancel = () => abort.current?.abort();
  useKeys([{ keys: "Escape", what: "Cancel the query", run: cancel }], []);
  return (
    <>
      <Top title="SQL" ranged={false}>
        {state.busy && <button type="button" onClick={cancel}>Cancel</button>}
        <button type="button" class="primary" disabled={state.busy} onClick={() => run()} data-run>Run <kbd>Ctrl ↵</kbd></button>
      </Top>
      <main id="main" tabIndex={-1} class="sql-page">
        <div class="stack">
          <section class="panel" aria-label="Query">
            <EditorBox text={text} source={source} label="SQL query" run={() => run()} change={setText} />
            <div class="row under">
              <button type="button" class="quiet" onClick={() => run(`EXPLAIN ${text.replace(/^\s*EXPLAIN\s+/i, "")}`)}>Explain</button>
              <button type="button" class="quiet" onClick={() => void copy(psqlOf(plain(text)), "psql line")}>Copy psql line</button>
              <span class="muted small">Reads only. One statement. Stays in the address, so the link shares it.</span>
            </div>
          </section>
          <Result state={state} retry={() => run(state.query)} />
        </div>
        <SideList text={text} pick={bring} insert={(word) => bring(`${text}${/\s$/.test(text) ? "" : " "}${word}`)} />
      </main>
    </>
  );
}

async function start(query: string, abort: { current: AbortController | undefined }, set: (next: Running) => void, begun: () => void) {
  if (query.trim() === "") return;
  abort.current?.abort();
  const mine = new AbortController();
  abort.current = mine;
  begun();
  set({ busy: true, query });
  try {
    const table = await ask(plain(query.trim().replace(/;\s*$/, "")), mine.signal);
    keep(query);
    set({ table, query });
    say(`${table.rows} rows`);
  } catch (error) {
    if (mine.signal.aborted) set({ cancelled: true, query });
    else set({ fault: error instanceof Fault ? error : new Fault("server", String(error)), query });
  }
}

function Result({ state, retry }: { state: Running; retry: () => void }) {
  if (state.busy) return <section class="panel"><Bars /></section>;
  if (state.cancelled) return <section class="panel"><p class="empty">Cancelled. The server has been told to stop.</p></section>;
  if (state.fault) return <section class="panel padded"><FaultBox fault={state.fault} retry={retry} />{state.fault.kind === "wrong" && <Place query={state.query.trim()} message={state.fault.message} />}</section>;
  if (!state.table) return <section class="panel"><p class="empty">Nothing has run yet. Press Run, or Ctrl+Enter in the editor.</p></section>;
  return <Shown table={state.table} query={state.query} />;
}

function Shown({ table, query }: { table: Table; query: string }) {
  const plotted = address.value.state.view === "plot";
  const get = async (accept: string, ending: string) => {
    try {
      save(await download(plain(query), accept), `groundline.${ending}`);
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <section class="panel" aria-label="Result">
      <header>
        <h2>Result</h2>
        <span class="sub">{table.rows.toLocaleString("en")} {table.rows === 1 ? "row" : "rows"} in {table.elapsed_ms} ms</span>
        <span class="tools">
          <button type="button" aria-pressed={!plotted} onClick={() => setState({ view: "" }, true)}>Table</button>
          <button type="button" aria-pressed={plotted} onClick={() => setState({ view: "plot" }, true)}>Plot</button>
          <button type="button" class="quiet" onClick={() => save(new Blob([csv(table)], { type: "text/csv" }), "groundline.csv")}>CSV</button>
          <button type="button" class="quiet" onClick={() => void get("application/vnd.apache.parquet", "parquet")}>Parquet</button>
          <button type="button" class="quiet" onClick={() => void get("application/vnd.apache.arrow.stream", "arrows")}>Arrow</button>
        </span>
      </header>
      {table.rows === 0 ? <p class="empty">No row. The statement is right, nothing fits it.</p>
        : plotted ? <Plot table={table} /> : <div class="body flush"><ResultTable table={table} /></div>}
    </section>
  );
}
