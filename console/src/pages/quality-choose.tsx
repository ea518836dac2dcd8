// Which metrics have a chart: the worst six, or those that are chosen, which the address keeps.
import { useRef, useState } from "preact/hooks";
import { nearest } from "../lib/nearest";
import { MOST_CHOSEN } from "../lib/quality";
import { hrefOf, address, setState } from "../lib/store";
import { line, visible } from "../lib/text";
import { Link } from "../ui/parts";
import { useOutside } from "../ui/range-picker";

interface ChooseProps {
  chosen: string[];
  /** The metrics of the table. */
  names: string[];
}

export function Choose({ chosen, names }: ChooseProps) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useOutside(box, open, () => setOpen(false));
  const flip = (name: string) => setState({ metrics: (chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name]).join(",") }, true);
  const all = [...new Set([...chosen, ...names])].sort();
  return (
    <div class="anchor" ref={box}>
      <button type="button" aria-expanded={open} aria-haspopup="true" onClick={() => setOpen(!open)}>{chosen.length === 0 ? "Choose metrics" : `${chosen.length} chosen`}</button>
      {open && (
        <div class="popup right">
          <fieldset class="picks column-picks">
            <legend class="hidden">Metrics with a chart, at most {MOST_CHOSEN}</legend>
            {all.map((name) => (
              <label key={name}><input type="checkbox" checked={chosen.includes(name)} disabled={!chosen.includes(name) && chosen.length >= MOST_CHOSEN} onChange={() => flip(name)} />{line(name, 50)}</label>
            ))}
          </fieldset>
          <button type="button" disabled={chosen.length === 0} onClick={() => setState({ metrics: "" }, true)}>The worst six</button>
        </div>
      )}
    </div>
  );
}

/** A metric that is chosen and has no curve, of which nothing is known until the answer is there; where nothing has it, names that may be meant. */
export function Missing({ metric, chosen, names, busy }: ChooseProps & { metric: string; busy: boolean }) {
  const near = nearest(metric, names);
  const instead = (name: string) => hrefOf("quality", "", { ...address.value.state, metrics: chosen.map((each) => (each === metric ? name : each)).join(",") });
  return (
    <section aria-label={visible(metric)}>
      <h3>{line(metric, 60)}</h3>
      {busy ? <p class="empty">…</p> : names.includes(metric) ? <p class="empty">No curve: at most {MOST_CHOSEN} are drawn, the worst first.</p> : (
        <p class="empty">No verdict in this time range.{near.length > 0 && " Is one of these meant? "}
          {near.map((name) => <span key={name}><Link href={instead(name)}>{visible(name)}</Link> </span>)}</p>
      )}
    </section>
  );
}
