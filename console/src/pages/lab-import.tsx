// A file becomes items of a dataset: it is looked at first, with every fault by its line, and taken then.
import { useState } from "preact/hooks";
import { Fault, postJson } from "../lib/api";
import { count } from "../lib/format";
import { type Options, type Outcome, bodyOf, importPath, outcomeText, placeOf, stemOf } from "../lib/importing";
import { cutText } from "../lib/limits";
import { refresh, say, setState, tenant } from "../lib/store";
import { line } from "../lib/text";
import { FaultBox } from "../ui/panel";

/** What was looked at; anything else chosen since makes it another import. */
interface Looked {
  outcome: Outcome;
  of: string;
}

export function Import({ chosen }: { chosen: string }) {
  const [file, setFile] = useState<File | undefined>();
  const [name, setName] = useState(chosen);
  const [options, setOptions] = useState<Options>({ map: "", replaces: false, keepsDuplicates: false });
  const [looked, setLooked] = useState<Looked | undefined>();
  const [fault, setFault] = useState<Fault | undefined>();
  const [busy, setBusy] = useState(false);
  const of = JSON.stringify([file?.name, file?.lastModified, name, options]);
  const send = async (tries: boolean) => {
    if (!file) return;
    setBusy(true);
    setFault(undefined);
    try {
      const partial = tries || (looked?.outcome.faults.length ?? 0) > 0;
      const path = importPath(name.trim(), file.name, options, tries, partial, tenant.value);
      const outcome = (await postJson(path, await bodyOf(file, file.name))) as Outcome;
      setLooked(tries ? { outcome, of } : undefined);
      if (!tries) taken(name.trim(), outcome);
    } catch (error) {
      setLooked(undefined);
      setFault(error instanceof Fault ? error : new Fault("server", String(error)));
    }
    setBusy(false);
  };
  const pick = (next: File | undefined) => {
    setFile(next);
    if (next && name.trim() === "") setName(stemOf(next.name));
  };
  const shown = looked?.of === of ? looked.outcome : undefined;
  return (
    <details class="fold-panel panel">
      <summary>Import a file</summary>
      <form class="body stack" onSubmit={(event) => {
        event.preventDefault();
        void send(true);
      }}>
        <div class="row small">
          <label>File <input type="file" accept=".csv,.tsv,.json,.jsonl,.ndjson,.parquet,.zip,text/csv,application/json,application/zip" onChange={(event) => pick(event.currentTarget.files?.[0])} /></label>
          <label>Dataset <input type="text" required value={name} onInput={(event) => setName(event.currentTarget.value)} /></label>
          <How options={options} change={setOptions} />
          <button type="submit" disabled={busy || !file || name.trim() === ""}>Look at it</button>
        </div>
        <p class="muted small">CSV, JSON lines, JSON or Parquet, also as other systems write them; or a ZIP archive of one with the files that it names.</p>
        {fault && <FaultBox fault={fault} />}
        {shown && <Preview outcome={shown} busy={busy} take={() => void send(false)} />}
      </form>
    </details>
  );
}

function How({ options, change }: { options: Options; change: (to: Options) => void }) {
  return (
    <>
      <label title="input=question,history;expected=answer">Columns <input type="text" placeholder="the usual names" value={options.map} onInput={(event) => change({ ...options, map: event.currentTarget.value })} /></label>
      <label><input type="checkbox" checked={options.replaces} onChange={(event) => change({ ...options, replaces: event.currentTarget.checked })} />Take out what it does not have</label>
      <label><input type="checkbox" checked={options.keepsDuplicates} onChange={(event) => change({ ...options, keepsDuplicates: event.currentTarget.checked })} />Keep duplicates</label>
    </>
  );
}

function taken(name: string, { version, put }: Outcome): void {
  say(`${count(put)} ${put === 1 ? "item was" : "items were"} put: version ${version} of ${name}`);
  setState({ dataset: name, version: "" });
  refresh();
}

/** Faults that are shown. */
const FAULTS = 200;

function Preview({ outcome, busy, take }: { outcome: Outcome; busy: boolean; take: () => void }) {
  const { faults, put, deleted } = outcome;
  return (
    <div class="stack" role="status">
      <div class="row">
        <strong>{outcomeText(outcome)}</strong>
        {faults.length > 0 && <span class="bad">{count(faults.length)} {faults.length === 1 ? "fault" : "faults"}</span>}
        <button type="button" class="primary" disabled={busy || put + deleted === 0} onClick={take}>{faults.length > 0 ? "Import the others" : "Import"}</button>
      </div>
      {faults.length > 0 && (
        <div class="scroll short" tabIndex={0} role="group" aria-label="Faults of the file">
          <table>
            <thead><tr><th scope="col">Where</th><th scope="col">What is wrong</th></tr></thead>
            <tbody>{faults.slice(0, FAULTS).map((each, at) => <tr key={at}><td class="nowrap">{line(placeOf(each), 60)}</td><td>{line(each.message, 400)}</td></tr>)}</tbody>
          </table>
          {faults.length > FAULTS && <p class="empty">{cutText(faults.length, FAULTS, "faults")}</p>}
        </div>
      )}
    </div>
  );
}
