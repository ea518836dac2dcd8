// Page 7: datasets, experiments, and two experiments compared.
import { useEffect } from "preact/hooks";
import { address, goTo, hrefOf } from "../lib/store";
import { Link } from "../ui/parts";
import { Top } from "../ui/shell";
import { Compare } from "./lab-compare";
import { Datasets } from "./lab-datasets";
import { Experiments } from "./lab-experiments";

const PARTS = [["datasets", "Datasets"], ["experiments", "Experiments"], ["compare", "Compare"]] as const;

export default function Lab() {
  const part = address.value.id;
  useEffect(() => {
    if (part === "") goTo(hrefOf("lab", "experiments"), true);
  }, [part]);
  return (
    <>
      <Top title="Lab" ranged={false} />
      <main id="main" tabIndex={-1}>
        <nav class="row" aria-label="Parts of the lab">
          {PARTS.map(([name, label]) => (
            <Link key={name} class="button" href={hrefOf("lab", name)} {...(part === name ? { "aria-current": "true" as const } : {})}>{label}</Link>
          ))}
        </nav>
        {part === "datasets" ? <Datasets /> : part === "compare" ? <Compare /> : <Experiments />}
      </main>
    </>
  );
}
