// A filter that is one SQL expression. What is wrong with it is said in the server's own words, with the place where it is known.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Fault } from "../lib/api";
import { faultOf } from "../lib/filter";
import { EditorBox } from "./editor-box";
import { Place } from "./place";

interface FilterBarProps {
  /** The filter in force, as the address has it. */
  where: string;
  fault: Fault | undefined;
  /** The table whose columns are offered. */
  table: string;
  label: string;
  hint: string;
  /** Puts another filter into force; an empty text is none. */
  change: (where: string) => void;
  /** More to do with the filter. */
  children?: ComponentChildren;
}

export function FilterBar({ where, fault, table, label, hint, change, children }: FilterBarProps) {
  const [{ text, source }, set] = useState({ text: where, source: 0 });
  useEffect(() => set((old) => ({ text: where, source: old.source + 1 })), [where]);
  const setText = (next: string) => set((old) => ({ ...old, text: next }));
  const wrong = text.trim() === "" ? undefined : faultOf(text);
  const run = () => {
    if (!wrong) change(text.trim());
  };
  return (
    <div class="filter-area">
      <div class="filterbar" role="search">
        <div class={wrong || fault?.kind === "wrong" ? "grow wrong" : "grow"}>
          <EditorBox single later text={text} source={source} label={label} table={table} run={run} change={setText} hint={`${hint}    (key /)`} />
        </div>
        <button type="button" class="primary" onClick={run} disabled={Boolean(wrong)}>Filter</button>
        {where !== "" && <button type="button" onClick={() => change("")}>Clear</button>}
        {children}
      </div>
      {fault?.kind === "wrong" && text === where && <Place query={where} message={named(fault.message)} />}
      {wrong && <p class="bad small" role="status">At character {wrong.at + 1}: {wrong.why}.{text === where && " It is not in force."}</p>}
    </div>
  );
}

/** Line and column are of the whole statement, of which the filter is a part: only a name tells its place. */
function named(message: string): string {
  return message.replace(/\bat Line: \d+, Column: \d+/, "");
}
