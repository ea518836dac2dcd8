// Page 10: any question. A query in the address waits for "Run"; leaving cancels what runs.
import { useEffect, useMemo, useState } from "preact/hooks";
import { type Table, ask, download } from "../lib/api";
import { csv, save } from "../lib/csv";
import { useKeys } from "../lib/keys";
import { OneQuery, type Running } from "../lib/one-query";
import { address, copy, say, setState, tenant } from "../lib/store";
import { plain } from "../lib/statement";
import { useWalk } from "../lib/walk";
import { EditorBox } from "../ui/editor-box";
import { Bars, FaultBox, psqlOf } from "../ui/panel";
import { Place } from "../ui/place";
import { ResultTable } from "../ui/result";
import { Top } from "../ui/shell";
import { EXAMPLES } from "./sql-examples";
import { Plot } from "./sql-plot";
import { SideList, keep } from "./sql-side";

export default function SqlPage() {
  const [{ text, source }, set] = useState({ text: address.value.state.q ?? EXAMPLES[0]?.sql ?? "", source: 0 });
  const setText = (next: string) => set((old) => ({ ...old, text: next }));
  const bring = (next: string) => set((old) => ({ text: next, source: old.source + 1 }));
  const [state, setRunning] = useState<Running>({ query: "" });
  const only = useMemo(() => new OneQuery((query, signal) => ask(plain(query.trim().replace(/;\s*$/, "")), signal), setRunning), []);
  const inAddress = address.value.state.q;
  useEffect(() => {
    if (inAddress !== undefined && inAddress !== text) bring(inAddress);
  }, [inAddress]);
  const cancel = () => only.cancel();
  useEffect(() => cancel, []);
  // A result stands for the tenant that was asked about.
  useEffect(() => only.forget(), [tenant.value]);
  const answer = async (query: string) => {
    const table = await only.run(query);
    if (table) told(query, table);
  };
  const run = (query = text) => {
    if (query.trim() === "") return;
    setState({ q: query }, true);
    void answer(query);
  };
  // It is asked about the query, which stays what the editor and the address have.
  const explain = () => text.trim() !== "" && void answer(`EXPLAIN ${text.replace(/^\s*EXPLAIN\s+/i, "")}`);
  useWalk();
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
              <button type="button" class="quiet" onClick={explain}>Explain</button>
              <button type="button" class="quiet" onClick={() => void copy(psqlOf(plain(text)), "psql line")}>Copy psql line</button>
              <span class="muted small">Reads only. One statement. Stays in the address, so the link shares it.</span>
            </div>
          </section>
          <Result state={state} retry={() => void answer(state.query)} />
        </div>
        <SideList text={text} pick={bring} insert={(word) => bring(`${text}${/\s$/.test(text) ? "" : " "}${word}`)} />
      </main>
    </>
  );
}

function told(query: string, table: Table) {
  keep(query);
  say(`${table.rows} rows`);
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
