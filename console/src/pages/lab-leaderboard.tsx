// Experiments on one dataset beside each other: every metric with its interval and its place, and what stands out in one.
import { type BoardRow, type Cell, type Choice, MOST, choiceOf, keyOf, metricsOf, placeText, settingsText, sorted, standing } from "../lib/board";
import { cost, count, interval, seconds, within } from "../lib/format";
import { useExperiments, useJson } from "../lib/hooks";
import { type Experiment, type Head, labPath } from "../lib/lab";
import { cutText } from "../lib/limits";
import { address, hrefOf, setState, tenant } from "../lib/store";
import { line, visible } from "../lib/text";
import { useWalk } from "../lib/walk";
import { Empty, Panel } from "../ui/panel";
import { Link } from "../ui/parts";
import { ConfusionMatrix } from "./lab-confusion";
import { Findings } from "./lab-findings";
import { RunsLink } from "./lab-narrowed";

/** Experiments that can be picked from, the newest first. */
const PICKS = 200;

export function Leaderboard() {
  const { dataset = "", experiments = "", one = "" } = address.value.state;
  const list = useExperiments();
  const heads = useJson<{ datasets: Head[] }>(labPath("datasets", { limit: "1000" }, tenant.value));
  const choice = choiceOf(list.data?.experiments ?? [], dataset, experiments);
  const board = useJson<{ rows: BoardRow[] }>(choice.ids.length === 0 ? null : labPath("leaderboards", { experiments: choice.ids.join(",") }, tenant.value));
  useWalk();
  const shown = choice.ids.includes(one) ? one : (choice.ids[0] ?? "");
  return (
    <>
      <Panel title="What stands beside each other" sub={`of one dataset, at most ${MOST}`} asked={list}>
        {(data) => (data.experiments.length === 0
          ? <Empty title="There is no experiment yet"><p><Link href={hrefOf("lab", "experiments")}>Experiments</Link> says how one is made.</p></Empty>
          : <Pick choice={choice} all={data.experiments} heads={heads.data?.datasets ?? []} />)}
      </Panel>
      {choice.ids.length > 0 && (
        <Panel title="Leaderboard" sub="95 % intervals; places that the intervals leave open are told as a range" asked={board} flush>
          {({ rows }) => <Board rows={rows} shown={shown} />}
        </Panel>
      )}
      {labelled(board.data?.rows, shown) && <ConfusionMatrix key={`labels ${shown}`} id={shown} name={choice.all.find((each) => each.experiment_id === shown)?.name ?? shown} />}
      {shown !== "" && <Findings key={shown} id={shown} name={choice.all.find((each) => each.experiment_id === shown)?.name ?? shown} />}
      {list.data && choice.ids.length === 0 && choice.all.length > 0 && <Empty title="No experiment of this dataset has an answer yet" />}
    </>
  );
}

/** Whether the experiment was asked for labels. */
function labelled(rows: BoardRow[] | undefined, id: string): boolean {
  return rows?.find((row) => row.experiment_id === id)?.cells.some((cell) => cell.evaluator === "classification") ?? false;
}

function Pick({ choice, all, heads }: { choice: Choice; all: Experiment[]; heads: Head[] }) {
  const datasets = [...new Set(all.map((each) => each.dataset_id))];
  const flip = (id: string) => {
    const ids = choice.ids.includes(id) ? choice.ids.filter((each) => each !== id) : [...choice.ids, id];
    if (ids.length > 0 && ids.length <= MOST) setState({ dataset: choice.dataset, experiments: ids.join(",") }, true);
  };
  return (
    <div class="stack">
      <label class="row small">Dataset
        <select value={choice.dataset} onChange={(event) => setState({ dataset: event.currentTarget.value, experiments: "", one: "" })}>
          {datasets.map((id) => <option key={id} value={id}>{visible(heads.find((head) => head.dataset_id === id)?.name ?? id)}</option>)}
        </select>
      </label>
      <fieldset class="picks"><legend class="hidden">Experiments</legend>
        {choice.all.slice(0, PICKS).map((each) => (
          <label key={each.experiment_id} class="small">
            <input type="checkbox" checked={choice.ids.includes(each.experiment_id)} onChange={() => flip(each.experiment_id)} />
            {line(each.name, 40)}<span class="muted">version {each.dataset_version}</span>
          </label>
        ))}
      </fieldset>
      {choice.all.length > PICKS && <p class="muted small">{cutText(choice.all.length, PICKS, "experiments")}</p>}
    </div>
  );
}

function Board({ rows, shown }: { rows: BoardRow[]; shown: string }) {
  const metrics = metricsOf(rows);
  const by = metrics.some((each) => keyOf(each) === address.value.state.by) ? (address.value.state.by as string) : metrics[0] ? keyOf(metrics[0]) : "";
  const sortOf = (key: string) => (key === by ? { "aria-sort": "descending" as const } : {});
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Places by metric" data-walk>
      <table class="quality board">
        <thead><tr>
          <th scope="col">Experiment</th>
          {metrics.map((each) => (
            <th key={keyOf(each)} scope="col" {...sortOf(keyOf(each))}>
              <button type="button" class="quiet" title="Best place first" onClick={() => setState({ by: keyOf(each) }, true)}>
                {line(each.metric, 40)}{each.metric !== each.evaluator && <span class="muted">{line(each.evaluator, 30)}</span>}{keyOf(each) === by && <span aria-hidden="true">▾</span>}
              </button>
              <div class="muted">{each.measure === "pass_rate" ? "share that passes" : "mean value"}</div>
            </th>
          ))}
          <th scope="col" class="num">No answer</th><th scope="col" class="num">A run takes</th><th scope="col" class="num">A run costs</th>
        </tr></thead>
        <tbody>{sorted(rows, by).map((row) => <Line key={row.experiment_id} row={row} metrics={metrics} rows={rows.length} current={row.experiment_id === shown} />)}</tbody>
      </table>
    </div>
  );
}

function Line({ row, metrics, rows, current }: { row: BoardRow; metrics: Cell[]; rows: number; current: boolean }) {
  const model = [row.target.name, row.target.model].filter(Boolean).join(" ") || row.target.kind;
  return (
    <tr aria-current={current ? "true" : undefined}>
      <th scope="row">
        <button type="button" class="cell" title="Show its findings below" onClick={() => setState({ one: row.experiment_id }, true)}>{line(row.name, 50)}</button>
        <span class="muted small clip" title={visible(settingsText(row))}>{line([model, settingsText(row)].filter(Boolean).join("; "), 60)}</span>
      </th>
      {metrics.map((each) => <Place key={keyOf(each)} cell={row.cells.find((own) => keyOf(own) === keyOf(each))} rows={rows} experiment={row.experiment_id} />)}
      <td class="num">{row.errors > 0 ? <Link class="bad" href={hrefOf("lab", "experiments", { experiment: row.experiment_id })}>! {count(row.errors)}</Link> : "0"}</td>
      <td class="num">{row.duration_ms ? within(row.duration_ms, (ms) => seconds(ms / 1e3)) : "–"}</td>
      <td class="num">{row.cost_usd ? within(row.cost_usd, cost) : "–"}</td>
    </tr>
  );
}

/** The shade says what the place says: the first is darkest. */
function Place({ cell, rows, experiment }: { cell: Cell | undefined; rows: number; experiment: string }) {
  if (!cell?.estimate) return <td class="muted">no score</td>;
  const share = Math.round(standing(cell, rows) * 100);
  return (
    <td style={{ background: `color-mix(in srgb, var(--accent-soft) ${share}%, transparent)` }}>
      <span class={cell.rank_from === 1 ? "chip good" : "chip outline"}><span class="hidden">place </span>#{placeText(cell)}</span> <RunsLink experiment={experiment} each={cell}>{interval(cell.estimate)}</RunsLink>
    </td>
  );
}
