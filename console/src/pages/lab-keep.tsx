// An item is put into a dataset, one that is there or a new one: then experiments ask it too.
import { useState } from "preact/hooks";
import { Fault, postJson } from "../lib/api";
import { type Head, labPath } from "../lib/lab";
import type { PlaygroundItem } from "../lib/playground";
import { hrefOf, tenant } from "../lib/store";
import { line, visible } from "../lib/text";
import { FaultBox } from "../ui/panel";
import { Link } from "../ui/parts";

interface KeepProps {
  item: PlaygroundItem & { expected?: unknown };
  heads: Head[];
  /** Where it comes from, for the dataset's history. */
  message: string;
}

export function Keep({ item, heads, message }: KeepProps) {
  const [name, setName] = useState(heads[0]?.name ?? "");
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | undefined>();
  const [kept, setKept] = useState("");
  // A dataset that was made here is there, also where its item was refused.
  const [made, setMade] = useState("");
  const fresh = name.trim() !== "" && !heads.some((head) => head.name === name.trim()) && made !== name.trim();
  const put = async (event: Event) => {
    event.preventDefault();
    const dataset = name.trim();
    setBusy(true);
    setFault(undefined);
    try {
      if (fresh) await postJson(labPath("datasets", {}, tenant.value), { name: dataset }).then(() => setMade(dataset));
      await postJson(labPath(`datasets/${encodeURIComponent(dataset)}/items`, {}, tenant.value), { put: [item], message });
      setKept(dataset);
    } catch (error) {
      setFault(error instanceof Fault ? error : new Fault("server", String(error)));
    }
    setBusy(false);
  };
  return (
    <form class="stack" aria-label="Keep as an item" onSubmit={(event) => void put(event)}>
      <div class="row">
        <label class="row small">Dataset
          <input type="text" required list="datasets" value={name} maxLength={200} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <datalist id="datasets">{heads.map((head) => <option key={head.dataset_id} value={head.name}>{visible(head.name)}</option>)}</datalist>
        <button type="submit" disabled={busy || name.trim() === ""}>{fresh ? "Make it and put it in" : "Put it in"}</button>
        {kept !== "" && <span role="status" class="good">✓ in <Link href={hrefOf("lab", "datasets", { dataset: kept })}>{line(kept, 60)}</Link></span>}
      </div>
      {fault && <FaultBox fault={fault} />}
    </form>
  );
}
