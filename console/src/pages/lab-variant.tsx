// One column of the playground: whom to ask, the prompts with their places, the parameters.
import { type PlaygroundItem, type TargetInfo, type Variant, pathsOf, promptFault } from "../lib/playground";
import { line, visible } from "../lib/text";

interface ColumnProps {
  number: number;
  variant: Variant;
  targets: TargetInfo[];
  items: PlaygroundItem[];
  change: (to: Variant, now?: boolean) => void;
  remove?: () => void;
  save?: () => void;
}

export function Column({ number, variant, targets, items, change, remove, save }: ColumnProps) {
  const target = targets.find((each) => each.name === variant.target);
  const fault = promptFault(variant, items);
  return (
    <section class="stack column" aria-label={`Column ${number}`}>
      <div class="row">
        <h3>Column {number}</h3><span class="grow" />
        {save && <button type="button" class="quiet" onClick={save}>Save as an experiment</button>}
        {remove && <button type="button" class="quiet" onClick={remove} aria-label={`Remove column ${number}`}>Remove</button>}
      </div>
      <label class="row small">Target
        <select value={variant.target} onChange={(event) => change({ ...variant, target: event.currentTarget.value }, true)}>
          {target === undefined && <option value={variant.target}>{visible(variant.target) || "…"} (not there)</option>}
          {targets.map((each) => <option key={each.name} value={each.name}>{visible(each.name)}{each.model ? ` (${visible(each.model)})` : ""}</option>)}
        </select>
      </label>
      {target?.kind === "openai" && (
        <>
          <Own label="System prompt" of="system" variant={variant} change={change} rows={2} />
          <Own label="Prompt" of="prompt" variant={variant} change={change} rows={5} />
          <Places items={items} variant={variant} change={change} />
        </>
      )}
      {target !== undefined && target.kind !== "openai" && <p class="muted small">This target makes its prompts itself; it is told the parameters.</p>}
      <label class="stack-label small">Parameters
        <textarea class="mono" rows={1} spellcheck={false} placeholder={'{"temperature": 0}'} value={variant.parameters ?? ""}
          onInput={(event) => change({ ...variant, parameters: event.currentTarget.value })} />
      </label>
      {fault !== "" && <p class="bad small" role="status">{line(fault, 300)}</p>}
    </section>
  );
}

interface OwnProps {
  label: string;
  of: "system" | "prompt";
  variant: Variant;
  change: (to: Variant, now?: boolean) => void;
  rows: number;
}

/** The target's own, or another in its place: an empty text is none at all. */
function Own({ label, of, variant, change, rows }: OwnProps) {
  const text = variant[of];
  const without = () => {
    const { [of]: _, ...rest } = variant;
    change(rest as Variant, true);
  };
  if (text === undefined) {
    return (
      <div class="row small"><span>{label}: the target's own</span>
        <button type="button" class="quiet" onClick={() => change({ ...variant, [of]: of === "prompt" ? "{{input}}" : "" }, true)}>Write another</button></div>
    );
  }
  return (
    <div class="stack-label small">
      <label class="stack-label">{label}
        <textarea class="mono" rows={rows} value={text} onInput={(event) => change({ ...variant, [of]: event.currentTarget.value })} />
      </label>
      <div><button type="button" class="quiet" onClick={without}>The target's own</button></div>
    </div>
  );
}

/** What a prompt may name; a press puts it at the prompt's end. */
function Places({ items, variant, change }: { items: PlaygroundItem[]; variant: Variant; change: (to: Variant, now?: boolean) => void }) {
  if (variant.prompt === undefined) return null;
  const { prompt } = variant;
  return (
    <div class="row small" role="group" aria-label="Places of the first item">
      {pathsOf(items[0]).map((path) => (
        <button key={path} type="button" class="chip mono" title="Put it at the end of the prompt" onClick={() => change({ ...variant, prompt: `${prompt}{{${path}}}` }, true)}>{`{{${line(path, 40)}}}`}</button>
      ))}
    </div>
  );
}
