// The answers of the playground, a column each, with their scores.
import type { Fault } from "../lib/api";
import { cost, count, seconds, value } from "../lib/format";
import { textOf } from "../lib/lab";
import { type PlaygroundItem, type TrialAnswer, type TrialScore, type Variant, variantsText } from "../lib/playground";
import { line } from "../lib/text";
import { Bars, FaultBox } from "../ui/panel";
import { Hostile, VerdictChip, verdictOf } from "../ui/parts";

export interface Tried {
  /** The column as it was asked, to tell whether it has changed since. */
  of: string;
  items: PlaygroundItem[];
  busy: boolean;
  answers?: TrialAnswer[];
  fault?: Fault;
}

interface AnswersProps {
  items: PlaygroundItem[];
  variants: Variant[];
  tried: Array<Tried | undefined>;
  again: () => void;
}

export function Answers({ items, variants, tried, again }: AnswersProps) {
  const faulty = variants.map((_, at) => tried[at]?.fault).find((fault) => fault !== undefined);
  const busy = variants.some((_, at) => tried[at]?.busy);
  return (
    <section class="panel" aria-label="Answers" aria-busy={busy}>
      <header><h2>Answers</h2><span class="sub" role="status">{busy ? "asking …" : ""}</span></header>
      {faulty && <FaultBox fault={faulty} retry={again} />}
      <div class="scroll" tabIndex={0} role="group" aria-label="Answers side by side">
        <table class="answers">
          <thead><tr><th scope="col">Asked</th>{variants.map((variant, at) => <th key={at} scope="col"><Head number={at + 1} variant={variant} tried={tried[at]} /></th>)}</tr></thead>
          <tbody>{items.map((item, row) => (
            <tr key={row}>
              <th scope="row"><Hostile text={textOf(item.input)} most={300} />{item.expected !== undefined && <div class="muted">expected: {line(textOf(item.expected), 120)}</div>}</th>
              {variants.map((_, at) => <td key={at}><One tried={tried[at]} item={item} /></td>)}
            </tr>
          ))}</tbody>
        </table>
      </div>
    </section>
  );
}

function Head({ number, variant, tried }: { number: number; variant: Variant; tried: Tried | undefined }) {
  const answers = tried?.answers ?? [];
  const total = answers.reduce((sum, each) => sum + (each.cost_usd ?? 0), 0);
  return (
    <>
      Column {number} <span class="muted">{line(variant.target, 40)}{total > 0 && `, ${cost(total)}`}</span>
      {tried && tried.of !== variantsText([variant]) && <span class="chip warn">changed since</span>}
    </>
  );
}

function One({ tried, item }: { tried: Tried | undefined; item: PlaygroundItem }) {
  // Items can be chosen anew while answers of others stand here.
  const at = tried?.items.findIndex((each) => JSON.stringify(each.input) === JSON.stringify(item.input)) ?? -1;
  if (tried?.busy && at >= 0) return <Bars />;
  const answer = tried?.answers?.[at];
  if (!answer) return <span class="muted">not asked</span>;
  const tokens = answer.input_tokens === null && answer.output_tokens === null ? "" : `, ${count(answer.input_tokens)} / ${count(answer.output_tokens)} tokens`;
  return (
    <div class="stack">
      {answer.error !== null
        ? <p class="bad"><Hostile text={answer.error} most={1000} /></p>
        : <p class="text"><Hostile text={textOf(answer.output)} most={4000} /></p>}
      <p class="muted small">{answer.duration_ms === null ? "" : seconds(answer.duration_ms / 1e3)}{tokens}{answer.cost_usd === null ? "" : `, ${cost(answer.cost_usd)}`}</p>
      {answer.scores.length > 0 && <ul class="stack" aria-label="Scores">{answer.scores.map((score, place) => <Scored key={place} score={score} />)}</ul>}
    </div>
  );
}

function Scored({ score }: { score: TrialScore }) {
  const said = score.label ?? value(score.value);
  return (
    <li class="small">
      <VerdictChip verdict={verdictOf(score.status, score.passed)}>{line(score.metric, 40)}{score.status === "ok" && ` ${line(said, 30)}`}</VerdictChip>{" "}
      <Hostile text={score.rationale ?? score.error ?? ""} most={300} />
    </li>
  );
}
