// Page 6: what people judge. Without an id the lists of queues and of metrics; with one, one item at a time.
import { useJson } from "../lib/hooks";
import { count } from "../lib/format";
import { type Queue as LabQueue, isQueue } from "../lib/queue";
import type { Counts } from "../lib/review";
import { address, hrefOf } from "../lib/store";
import { line } from "../lib/text";
import { useWalk } from "../lib/walk";
import { Empty, Panel } from "../ui/panel";
import { Link } from "../ui/parts";
import { Top } from "../ui/shell";
import { QueuePage } from "./review-queue";
import { Work } from "./review-work";

interface Queue {
  metric: string;
  question: string;
  scored: number;
  counts: Counts;
}

export default function Review() {
  const metric = address.value.id;
  if (isQueue(metric)) return <QueuePage key={metric} id={metric} />;
  return metric === "" ? <Queues /> : <Work key={metric} metric={metric} />;
}

function Queues() {
  const asked = useJson<{ queues: Queue[]; reviews_per_item: number }>("/v1/labels");
  const lab = useJson<{ queues: LabQueue[] }>("/v1/lab/queues");
  useWalk();
  return (
    <>
      <Top title="Review" ranged={false} />
      <main id="main" tabIndex={-1}>
        {(lab.data?.queues.length ?? 0) > 0 && (
          <Panel title="Queues" sub="runs of experiments, and what was chosen for review" asked={lab} flush>{({ queues }) => <LabTable queues={queues} />}</Panel>
        )}
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
    <div class="scroll" tabIndex={0} role="group" aria-label="Metrics" data-walk>
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

function LabTable({ queues }: { queues: LabQueue[] }) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Queues of review" data-walk>
      <table class="quality">
        <thead><tr>
          <th scope="col">Queue</th><th scope="col">Over</th><th scope="col">State</th><th scope="col" class="num">Items</th>
          <th scope="col" class="num">Open</th><th scope="col" class="num">Differ</th><th scope="col" class="num">Labelled</th>
        </tr></thead>
        <tbody>{queues.map(({ queue_id: id, name, source, status, counts }) => (
          <tr key={id}>
            <td><Link href={hrefOf("review", id)}>{line(name, 60)}</Link></td>
            <td class="muted">{["experiment", "sql", "proposal"].find((kind) => kind in source)}</td><td>{line(status, 20)}</td>
            <td class="num">{count(counts.items)}</td><td class="num">{count(counts.open)}</td>
            <td class="num">{counts.adjudicate > 0 ? <Link href={hrefOf("review", id, { mode: "decide" })}>{count(counts.adjudicate)}</Link> : "0"}</td>
            <td class="num">{count(counts.final)}</td>
          </tr>
        ))}</tbody>
      </table>
    </div>
  );
}
