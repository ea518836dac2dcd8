// Saved views of the explorer: a name for a filter and its columns. They stay in this browser; a link shares one.
import { useRef, useState } from "preact/hooks";
import { address, remember, remembered, setState } from "../lib/store";
import { line } from "../lib/text";
import { useOutside } from "../ui/range-picker";

interface View {
  name: string;
  where: string;
  cols: string;
}

const MOST = 30;

function isView(value: unknown): value is View {
  const view = value as View | null;
  return typeof view?.name === "string" && typeof view.where === "string" && typeof view.cols === "string";
}

function kept(): View[] {
  try {
    const list: unknown = JSON.parse(remembered("views") || "[]");
    return Array.isArray(list) ? list.filter(isView) : [];
  } catch {
    return [];
  }
}

export function Views({ where }: { where: string }) {
  const [open, setOpen] = useState(false);
  const [views, setViews] = useState(kept);
  const box = useRef<HTMLDivElement>(null);
  useOutside(box, open, () => setOpen(false));
  const store = (next: View[]) => {
    setViews(next);
    remember("views", JSON.stringify(next));
  };
  const save = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const name = String(new FormData(form).get("name") ?? "").trim().slice(0, 80);
    if (name === "") return;
    store([{ name, where, cols: address.value.state.cols ?? "" }, ...views.filter((view) => view.name !== name)].slice(0, MOST));
    form.reset();
  };
  const show = (view: View) => {
    setOpen(false);
    setState({ where: view.where, cols: view.cols, row: "" });
  };
  return (
    <div class="anchor" ref={box}>
      <button type="button" aria-expanded={open} aria-haspopup="true" onClick={() => setOpen(!open)}>Views</button>
      {open && (
        <div class="popup right">
          {views.length === 0 && <p class="muted small">No view is saved in this browser.</p>}
          {views.map((view) => (
            <div key={view.name} class="row nowrap-row">
              <button type="button" class="grow" title={line(view.where, 300)} onClick={() => show(view)}>{line(view.name, 40)}</button>
              <button type="button" class="quiet" aria-label={`Forget ${line(view.name, 40)}`} onClick={() => store(views.filter((each) => each !== view))}>×</button>
            </div>
          ))}
          <form onSubmit={save}>
            <label>Save this as <input type="text" name="name" required maxLength={80} /></label>
            <button type="submit" class="primary">Save</button>
          </form>
        </div>
      )}
    </div>
  );
}
