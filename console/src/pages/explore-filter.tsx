// The filter bar. What is wrong with the filter is said in the server's own words, with the place where it is known.
import { useEffect, useState } from "preact/hooks";
import type { Fault } from "../lib/api";
import { faultOf } from "../lib/filter";
import { copy, setState } from "../lib/store";
import { EditorBox } from "../ui/editor-box";
import { Place } from "../ui/place";
import { Views } from "./explore-views";

export function FilterBar({ where, fault }: { where: string; fault: Fault | undefined }) {
  const [{ text, source }, set] = useState({ text: where, source: 0 });
  useEffect(() => set((old) => ({ text: where, source: old.source + 1 })), [where]);
  const setText = (next: string) => set((old) => ({ ...old, text: next }));
  const wrong = faultOf(text);
  const run = () => {
    if (!faultOf(text)) setState({ where: text.trim(), row: "" });
  };
  const bad = Boolean(wrong) && text !== "" || fault?.kind === "wrong";
  return (
    <div class="filter-area">
      <div class="filterbar" role="search">
        <div class={bad ? "grow wrong" : "grow"}>
          <EditorBox single later text={text} source={source} label="Filter: a SQL expression over spans" table="spans" run={run} change={setText}
            hint="operation = 'llm' AND duration_ns > 2e9    (key /)" />
        </div>
        <button type="button" class="primary" onClick={run} disabled={Boolean(wrong)}>Filter</button>
        {where !== "" && <button type="button" onClick={() => setState({ where: "", row: "" })}>Clear</button>}
        {where !== "" && (
          <button type="button" onClick={() => void copy(ruleOf(where), "Sampling rule")} title="The same expression as a rule of groundline.toml">
            Copy as sampling rule
          </button>
        )}
        <Views where={where} />
      </div>
      {fault?.kind === "wrong" && text === where && <Place query={where} message={named(fault.message)} />}
      {wrong && text !== "" && text !== where && (
        <p class="bad small" role="status">At character {wrong.at + 1}: {wrong.why}.</p>
      )}
    </div>
  );
}

/** Line and column are of the whole statement, of which the filter is a part: only a name tells its place. */
function named(message: string): string {
  return message.replace(/\bat Line: \d+, Column: \d+/, "");
}

/** The filter as a rule of the configuration. */
export function ruleOf(where: string): string {
  return `[[sample.rules]]\nname = "from-the-explorer"\nfilter = ${JSON.stringify(where)}\nrate = 0.1\n`;
}
