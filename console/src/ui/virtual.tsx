// A long table: only the rows in view stand in the document. Rows have one height.
import { Virtualizer, elementScroll, observeElementOffset, observeElementRect } from "@tanstack/virtual-core";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useReducer, useRef } from "preact/hooks";

export interface VirtualProps {
  rows: number;
  /** Pixels; the same for every row. */
  height: number;
  label: string;
  head: ComponentChildren;
  columns: number;
  row: (index: number) => ComponentChildren;
  /** Brought into view when it changes. */
  focus?: number;
  role?: "treegrid";
  /** The id of the row that the keyboard is on, of a treegrid. */
  active?: string | undefined;
  onKey?: (event: KeyboardEvent) => void;
  class?: string;
}

export function useVirtual(rows: number, height: number) {
  const scroll = useRef<HTMLDivElement>(null);
  const [, again] = useReducer((n: number) => n + 1, 0);
  const made = useRef<Virtualizer<HTMLDivElement, Element> | undefined>(undefined);
  const options = {
    count: rows, getScrollElement: () => scroll.current, estimateSize: () => height, overscan: 12,
    observeElementRect, observeElementOffset, scrollToFn: elementScroll, onChange: () => again(0),
    initialRect: { width: 800, height: 600 },
  };
  made.current ??= new Virtualizer(options);
  made.current.setOptions(options);
  useEffect(() => made.current?._didMount(), []);
  useLayoutEffect(() => made.current?._willUpdate());
  return { scroll, virtual: made.current };
}

export function VirtualTable(props: VirtualProps) {
  const { scroll, virtual } = useVirtual(props.rows, props.height);
  useEffect(() => {
    if (props.focus !== undefined && props.focus >= 0) virtual.scrollToIndex(props.focus, { align: "auto" });
  }, [props.focus]);
  const items = virtual.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const last = items[items.length - 1];
  const after = last ? virtual.getTotalSize() - last.end : 0;
  return (
    <div class={`scroll tall ${props.class ?? ""}`} ref={scroll} {...(props.role ? {} : { tabIndex: 0, role: "group", "aria-label": props.label })}>
      <table aria-label={props.label} aria-rowcount={props.rows + 1} {...(props.role ? gridOf(props) : {})}>
        <thead>{props.head}</thead>
        <tbody>
          <Spacer height={before} columns={props.columns} />
          {items.map((item) => props.row(item.index))}
          <Spacer height={after} columns={props.columns} />
        </tbody>
      </table>
    </div>
  );
}

/** A treegrid has the focus itself and names the row that it is on. */
function gridOf(props: VirtualProps) {
  return {
    role: "treegrid" as const, tabIndex: 0,
    ...(props.active ? { "aria-activedescendant": props.active } : {}),
    ...(props.onKey ? { onKeyDown: props.onKey } : {}),
  };
}

function Spacer({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null;
  return <tr aria-hidden="true" class="spacer"><td colSpan={columns} style={{ height: `${height}px` }} /></tr>;
}
