// The explorer's filter bar: the filter is a sampling rule too, and can be kept as a view.
import type { Fault } from "../lib/api";
import { copy, setState } from "../lib/store";
import { FilterBar } from "../ui/filter-bar";
import { Views } from "./explore-views";

export function ExploreFilter({ where, fault }: { where: string; fault: Fault | undefined }) {
  return (
    <FilterBar where={where} fault={fault} table="spans" label="Filter: a SQL expression over spans" hint="operation = 'llm' AND duration_ns > 2e9"
      change={(next) => setState({ where: next, row: "" })}>
      {where !== "" && (
        <button type="button" onClick={() => void copy(ruleOf(where), "Sampling rule")} title="The same expression as a rule of groundline.toml">
          Copy as sampling rule
        </button>
      )}
      <Views where={where} />
    </FilterBar>
  );
}

/** The filter as a rule of the configuration. */
export function ruleOf(where: string): string {
  return `[[sample.rules]]\nname = "from-the-explorer"\nfilter = ${JSON.stringify(where)}\nrate = 0.1\n`;
}
