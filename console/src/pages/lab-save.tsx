// A column of the playground as an experiment: all items of the dataset are asked, and what they answer is kept.
import { useEffect, useRef, useState } from "preact/hooks";
import { Fault, postJson } from "../lib/api";
import { count } from "../lib/format";
import { labPath } from "../lib/lab";
import { type Variant, experimentOf } from "../lib/playground";
import { runAll } from "../lib/running";
import { hrefOf, tenant } from "../lib/store";
import { line } from "../lib/text";
import { FaultBox } from "../ui/panel";
import { Link, Meter } from "../ui/parts";

interface SaveProps {
  variant: Variant;
  number: number;
  dataset: string;
  total: number;
  evaluators: string[];
  close: () => void;
}

interface Made {
  id: string;
  runs: number;
}

export function Save({ variant, number, dataset, total, evaluators, close }: SaveProps) {
  const [name, setName] = useState("");
  const [made, setMade] = useState<Made | undefined>();
  const [fault, setFault] = useState<Fault | undefined>();
  const [busy, setBusy] = useState(false);
  const create = async (event: Event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setFault(undefined);
    try {
      const told = (await postJson(labPath("experiments", {}, tenant.value), experimentOf(name.trim(), dataset, variant, evaluators))) as { experiment_id: string; runs: number };
      setMade({ id: told.experiment_id, runs: told.runs });
    } catch (error) {
      setFault(error instanceof Fault ? error : new Fault("server", String(error)));
    }
    setBusy(false);
  };
  return (
    <section class="panel" aria-label="Save as an experiment">
      <header><h2>Column {number} as an experiment</h2><span class="tools"><button type="button" class="quiet" onClick={close}>Close</button></span></header>
      {fault && <FaultBox fault={fault} />}
      <div class="body stack">
        {made ? <Progress made={made} /> : (
          <form class="row" onSubmit={(event) => void create(event)}>
            <label class="row small">Name <input type="text" required value={name} onInput={(event) => setName(event.currentTarget.value)} /></label>
            <button type="submit" class="primary" disabled={busy || name.trim() === ""}>Ask {count(total)} {total === 1 ? "item" : "items"}</button>
            <span class="muted small">of {line(dataset, 60)}, judged by {evaluators.length === 0 ? "no evaluator" : line(evaluators.join(", "), 100)}</span>
          </form>
        )}
      </div>
    </section>
  );
}

/** It asks as long as it stands; what is missing when the page is left can be asked from the experiment's own page. */
export function Progress({ made: { id, runs }, then }: { made: Made; then?: () => void }) {
  const [missing, setMissing] = useState(runs);
  const [fault, setFault] = useState<Fault | undefined>();
  const [ended, setEnded] = useState(false);
  const abort = useRef<AbortController | undefined>(undefined);
  const go = () => {
    const own = new AbortController();
    abort.current = own;
    setFault(undefined);
    setEnded(false);
    runAll(id, tenant.value, (now) => setMissing(now.missing), own.signal).then(
      () => {
        setEnded(true);
        then?.();
      },
      (error: unknown) => {
        if (!own.signal.aborted) setFault(error instanceof Fault ? error : new Fault("server", String(error)));
        setEnded(true);
      },
    );
  };
  useEffect(() => {
    go();
    return () => abort.current?.abort();
  }, []);
  return (
    <div class="stack">
      <div class="row" role="status">
        <Meter share={runs === 0 ? 1 : (runs - missing) / runs} /><span>{count(runs - missing)} of {count(runs)} runs</span>
        {!ended && <button type="button" onClick={() => abort.current?.abort()}>Stop</button>}
        {ended && missing > 0 && <button type="button" onClick={go}>Go on</button>}
        <Link class="button" href={hrefOf("lab", "experiments", { experiment: id })}>Experiment</Link>
        <Link class="button" href={hrefOf("lab", "compare", { new: id })}>Compare</Link>
        <Link class="button" href={hrefOf("lab", "leaderboard", {})}>Leaderboard</Link>
      </div>
      {fault && <FaultBox fault={fault} retry={go} />}
    </div>
  );
}
