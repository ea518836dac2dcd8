// Page 7: datasets, experiments, two of them compared, several beside each other, and the playground.
import { useEffect } from "preact/hooks";
import { address, goTo, hrefOf } from "../lib/store";
import { Link } from "../ui/parts";
import { Top } from "../ui/shell";
import { Compare } from "./lab-compare";
import { Datasets } from "./lab-datasets";
import { Experiments } from "./lab-experiments";
import { Leaderboard } from "./lab-leaderboard";
import { Playground } from "./lab-playground";

const PARTS = [["datasets", "Datasets"], ["experiments", "Experiments"], ["compare", "Compare"], ["leaderboard", "Leaderboard"], ["playground", "Playground"]] as const;

const SHOWN = { datasets: Datasets, experiments: Experiments, compare: Compare, leaderboard: Leaderboard, playground: Playground };

export default function Lab() {
  const part = address.value.id;
  const Part = SHOWN[part as keyof typeof SHOWN] ?? Experiments;
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
        <Part />
      </main>
    </>
  );
}
