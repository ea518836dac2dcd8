// The playground: a few items, up to four ways to ask them, the answers side by side with their scores.
import { useEffect, useRef, useState } from "preact/hooks";
import { Fault, postJson } from "../lib/api";
import { type Asked, useJson } from "../lib/hooks";
import { labPath } from "../lib/lab";
import {
  type EvaluatorInfo, MOST_VARIANTS, type PlaygroundItem, type TargetInfo, type TrialAnswer, type Variant, promptFault, trialOf, variantsOf, variantsText,
} from "../lib/playground";
import { address, setState, tenant } from "../lib/store";
import { line } from "../lib/text";
import { Empty, FaultBox, Panel } from "../ui/panel";
import { Answers, type Tried } from "./lab-answers";
import { Save } from "./lab-save";
import { useSource, WhatIsAsked } from "./lab-source";
import { Column } from "./lab-variant";

export function Playground() {
  const targets = useJson<{ targets: TargetInfo[] }>(labPath("targets", {}, tenant.value));
  if (targets.data === undefined) return <Panel title="How it is asked" asked={targets}>{() => null}</Panel>;
  const names = targets.data.targets.filter((each) => each.error === undefined);
  return names.length === 0 ? <NoTarget broken={targets.data.targets} /> : <Asking targets={targets} names={names} />;
}

function Asking({ targets, names }: Pick<PromptsProps, "targets" | "names">) {
  const evaluators = useJson<{ evaluators: EvaluatorInfo[] }>(labPath("evaluators", {}, tenant.value));
  const source = useSource();
  return (
    <>
      <WhatIsAsked source={source} />
      {source.chosen.length > 0 && <Prompts targets={targets} names={names} evaluators={evaluators} items={source.chosen} dataset={source.dataset} total={source.total} />}
    </>
  );
}

function NoTarget({ broken }: { broken: TargetInfo[] }) {
  return (
    <section class="panel">
      <Empty title="The server knows no target that it may ask">
        {broken.map((each) => <p key={each.name} class="bad">{line(each.name, 40)}: {line(each.error ?? "", 300)}</p>)}
        <p>It asks those of its configuration and no others. One with a prompt is of the kind openai:</p>
        <pre class="code">{'[lab.targets.support]\nkind = "openai"\nbase_url = "http://127.0.0.1:8000/v1"\nmodel = "NAME"\napi_key_env = "SUPPORT_KEY"'}</pre>
      </Empty>
    </section>
  );
}

/** The columns: typed here, kept in the address when a field is left. */
function useVariants(first: string): [Variant[], (next: Variant[], now?: boolean) => void, () => void] {
  const { v = "" } = address.value.state;
  const [own, setOwn] = useState(() => variantsOf(v));
  const latest = useRef(own);
  latest.current = own;
  useEffect(() => {
    if (v !== "" && v !== variantsText(latest.current)) setOwn(variantsOf(v));
  }, [v]);
  const keep = () => {
    const next = latest.current.length > 0 ? variantsText(latest.current) : "";
    if (next !== v) setState({ v: next }, true);
  };
  const set = (next: Variant[], now = false) => {
    latest.current = next;
    setOwn(next);
    if (now) keep();
  };
  const all = own.length > 0 ? own : [{ target: first }];
  return [all.map((each) => (each.target === "" ? { ...each, target: first } : each)), set, keep];
}

interface PromptsProps {
  targets: Asked<{ targets: TargetInfo[] }>;
  names: TargetInfo[];
  evaluators: Asked<{ evaluators: EvaluatorInfo[] }>;
  items: PlaygroundItem[];
  dataset: string;
  total: number;
}

function Prompts({ targets, names, evaluators, items, dataset, total }: PromptsProps) {
  const [variants, set, keep] = useVariants(names.find((each) => each.kind === "openai")?.name ?? names[0]?.name ?? "");
  const chosen = (address.value.state.evaluators ?? "").split(",").filter((id) => evaluators.data?.evaluators.some((each) => each.id === id));
  const { tried, run, stop, drop } = useTrials();
  const [saving, setSaving] = useState(-1);
  const busy = tried.some((each) => each?.busy);
  const go = () => {
    set(variants, true);
    variants.forEach((variant, at) => promptFault(variant, items) === "" && run(at, variant, items, chosen));
  };
  const remove = (at: number) => {
    drop(at);
    setSaving(-1);
    set(variants.filter((_, index) => index !== at), true);
  };
  const change = (at: number, to: Variant, now?: boolean) => set(variants.map((each, index) => (index === at ? to : each)), now);
  const tools = (
    <>
      {variants.length < MOST_VARIANTS && <button type="button" onClick={() => set([...variants, { ...(variants.at(-1) as Variant) }], true)}>Another column</button>}
      {busy ? <button type="button" onClick={stop}>Stop</button> : <button type="button" class="primary" onClick={go} title="Ctrl+Enter">Run</button>}
    </>
  );
  const typed = (event: KeyboardEvent) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && !busy && go();
  return (
    <>
      <Panel title="How it is asked" sub={`${items.length} ${items.length === 1 ? "item" : "items"}, nothing is stored`} asked={targets} tools={tools}>
        {() => (
          <div class="stack" onKeyDown={typed} onFocusOut={keep}>
            {evaluators.fault && <FaultBox fault={evaluators.fault} retry={evaluators.retry} />}
            <Evaluators all={evaluators.data?.evaluators ?? []} chosen={chosen} />
            <div class="columns">
              {variants.map((variant, at) => (
                <Column key={at} number={at + 1} variant={variant} targets={names} items={items} change={(to, now) => change(at, to, now)}
                  {...(variants.length > 1 ? { remove: () => remove(at) } : {})}
                  {...(dataset === "" ? {} : { save: () => setSaving(at) })} />
              ))}
            </div>
          </div>
        )}
      </Panel>
      {saving >= 0 && variants[saving] && <Save key={saving} variant={variants[saving]} number={saving + 1} dataset={dataset} total={total} evaluators={chosen} close={() => setSaving(-1)} />}
      {tried.some((each) => each !== undefined) && <Answers items={items} variants={variants} tried={tried} again={go} />}
    </>
  );
}

function Evaluators({ all, chosen }: { all: EvaluatorInfo[]; chosen: string[] }) {
  const flip = (id: string) => setState({ evaluators: (chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]).join(",") }, true);
  return (
    <details class="fold" open={chosen.length === 0}>
      <summary>Evaluators: {chosen.length === 0 ? "none chosen" : line(chosen.join(", "), 200)}</summary>
      <fieldset class="picks"><legend class="hidden">Evaluators</legend>
        {all.map((each) => (
          <label key={each.id} class="small" title={each.metrics.map((metric) => metric.name).join(", ")}>
            <input type="checkbox" checked={chosen.includes(each.id)} onChange={() => flip(each.id)} />
            {line(each.id, 50)}{each.asks_others && <span class="chip outline" title="It may cost money">asks others</span>}
          </label>
        ))}
      </fieldset>
    </details>
  );
}

/** One request a column, so that the quick ones are read while others are still asked. */
function useTrials() {
  const [tried, setTried] = useState<Array<Tried | undefined>>([]);
  const abort = useRef<AbortController[]>([]);
  const put = (at: number, next: Tried) => setTried((old) => Object.assign([...old], { [at]: next }));
  const stop = () => abort.current.forEach((each) => each.abort());
  // What is asked in the columns behind it would come back to the wrong ones.
  const drop = (at: number) => {
    stop();
    abort.current = [];
    setTried((old) => old.filter((_, index) => index !== at).map((each) => (each?.busy ? undefined : each)));
  };
  useEffect(() => stop, []);
  const run = (at: number, variant: Variant, items: PlaygroundItem[], evaluators: string[]) => {
    const own = new AbortController();
    abort.current[at]?.abort();
    abort.current[at] = own;
    const base = { of: variantsText([variant]), items };
    put(at, { ...base, busy: true });
    postJson(labPath("playground", {}, tenant.value), trialOf(variant, items, evaluators), own.signal).then(
      (told) => abort.current[at] === own && put(at, { ...base, busy: false, answers: (told as { answers: TrialAnswer[] }).answers }),
      (error: unknown) => {
        if (abort.current[at] !== own) return;
        const fault = error instanceof Fault ? error : new Fault("server", own.signal.aborted ? "It was stopped." : String(error));
        put(at, { ...base, busy: false, fault });
      },
    );
  };
  return { tried, run, stop, drop };
}
