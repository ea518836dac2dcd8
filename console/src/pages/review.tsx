// Page 6: items to label. Without a metric the list of queues; with one, one item at a time.
import { useJson } from "../lib/hooks";
import { count } from "../lib/format";
import type { Counts } from "../lib/review";
import { address, hrefOf } from "../lib/store";
import { line } from "../lib/text";
import { Empty, Panel } from "../ui/panel";
import { Link } from "../ui/parts";
import { Top } from "../ui/shell";
import { Work } from "./review-work";

interface Queue {
  metric: string;
  question: string;
  scored: number;
  counts: Counts;
}

export default function Review() {
  const metric = address.value.id;
  return metric === "" ? <Queues /> : <Work key={metric} metric={metric} />;
}

function Queues() {
  const asked = useJson<{ queues: Queue[]; reviews_per_item: number }>("/v1/labels");
  return (
    <>
      <Top title="Review" ranged={false} />
      <main id="main" tabIndex={-1}>
        <Panel title="What can be labelled" sub="labels correct the rates of evaluators" asked={asked} flush>
          {({ queues }) => (queues.length === 0 ? <Nothing /> : <Table queues={queues} />)}
        </Panel>
      </main>
    </>
  );
}

function Nothing() {
  return (
    <Empty title="No score has a verdict yet">
      <p>Items are drawn from what was evaluated. <Link href={hrefOf("sampling")}>Sampling</Link> says what was decided about the traces.</p>
    </Empty>
  );
}

function Table({ queues }: { queues: Queue[] }) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Queues">
      <table class="quality">
        <thead><tr>
          <th scope="col">Metric</th><th scope="col">Question</th><th scope="col" class="num">Scored</th><th scope="col" class="num">Drawn</th>
          <th scope="col" class="num">Open</th><th scope="col" class="num">Differ</th><th scope="col" class="num">Labelled</th>
        </tr></thead>
        <tbody>{queues.map(({ metric, question, scored, counts }) => (
          <tr key={metric}>
            <td><Link href={hrefOf("review", metric)}>{line(metric, 60)}</Link></td>
            <td class="muted">{line(question, 120)}</td>
            <td class="num">{count(scored)}</td><td class="num">{count(counts.drawn)}</td><td class="num">{count(counts.open)}</td>
            <td class="num">{counts.adjudicate > 0
              ? <Link href={hrefOf("review", metric, { mode: "decide" })}>{count(counts.adjudicate)}</Link> : "0"}</td>
            <td class="num">{count(counts.final)}</td>
          </tr>
        ))}</tbody>
      </table>
    </div>
  );
}
