// One item of a comparison: what was asked and expected, both answers word by word, and the scores with their reasons.
import { useMemo } from "preact/hooks";
import { type Row, type Table, rowsOf } from "../lib/api";
import { numberOf, value } from "../lib/format";
import { type Asked, useAsk } from "../lib/hooks";
import { type Word, cellText, words } from "../lib/lab";
import { type Bound, bind } from "../lib/statement";
import { line, visible } from "../lib/text";
import { FaultBox, ShowSql } from "../ui/panel";
import { Hostile, TraceLink, VerdictChip, verdictOf } from "../ui/parts";
import C29 from "../../sql/C29.sql";
import C30 from "../../sql/C30.sql";
import C31 from "../../sql/C31.sql";

interface Named {
  experiment_id: string;
  name: string;
}

interface SidesProps {
  item: string;
  after: Named;
  baseline: Named;
}

export function BothSides({ item, after, baseline }: SidesProps) {
  const ids = { item, new: after.experiment_id, baseline: baseline.experiment_id };
  const bounds = useMemo((): [Bound, Bound, Bound] => [bind(C29, ids), bind(C30, { item, new: ids.new }), bind(C31, ids)], [item, ids.new, ids.baseline]);
  const asked: [Asked<Table>, Asked<Table>, Asked<Table>] = [useAsk(bounds[0]), useAsk(bounds[1]), useAsk(bounds[2])];
  const faulty = asked.find((each) => each.fault);
  if (faulty?.fault) return <FaultBox fault={faulty.fault} retry={faulty.retry} />;
  const [runs, asks, scores] = asked.map((each) => (each.data ? rowsOf(each.data) : []));
  const busy = asked.some((each) => each.data === undefined);
  return (
    <div class="stack sides" aria-busy={busy}>
      <Question row={asks?.[0]} />
      {!busy && repetitions(runs ?? []).map((repetition) => (
        <Pair key={repetition} before={of(runs, baseline, repetition)} now={of(runs, after, repetition)} names={[baseline.name, after.name]} />
      ))}
      <div class="two">
        <Scores name={baseline.name} rows={(scores ?? []).filter((row) => row.experiment_id === baseline.experiment_id)} />
        <Scores name={after.name} rows={(scores ?? []).filter((row) => row.experiment_id === after.experiment_id)} />
      </div>
      <div class="row"><ShowSql bounds={bounds} /></div>
    </div>
  );
}

function repetitions(runs: Row[]): number[] {
  return [...new Set(runs.map((row) => Number(row.repetition)))].slice(0, 10);
}

function of(runs: Row[] | undefined, { experiment_id: id }: Named, repetition: number): Row | undefined {
  return runs?.find((row) => row.experiment_id === id && Number(row.repetition) === repetition);
}

function Question({ row }: { row: Row | undefined }) {
  if (!row) return null;
  return (
    <dl class="kv">
      <dt>Asked</dt><dd class="text"><Hostile text={cellText(row.input)} most={2000} /></dd>
      <dt>Expected</dt><dd class="text"><Hostile text={cellText(row.expected)} most={2000} /></dd>
    </dl>
  );
}

function Pair({ before, now, names }: { before: Row | undefined; now: Row | undefined; names: [string, string] }) {
  const [left, right] = words(cellText(before?.output), cellText(now?.output));
  return (
    <div class="two">
      <Side row={before} name={names[0]} words={left} tag="del" />
      <Side row={now} name={names[1]} words={right} tag="ins" />
    </div>
  );
}

function Side({ row, name, words: all, tag: Tag }: { row: Row | undefined; name: string; words: Word[]; tag: "del" | "ins" }) {
  const text = all.map((word) => word.text).join("");
  return (
    <section>
      <h4 class="row"><span>{line(name, 60)}{Number(row?.repetition ?? 1) > 1 && `, time ${String(row?.repetition)}`}</span>
        {row?.trace_id ? <TraceLink id={String(row.trace_id)} span={row.span_id ? String(row.span_id) : null}>trace</TraceLink> : null}</h4>
      {row?.error ? <p class="bad">{visible(line(String(row.error), 600))}</p> : null}
      <p class="text">{text.length > 20_000 ? <Hostile text={text} /> : all.map((word, at) => (word.same ? visible(word.text) : <Tag key={at}>{visible(word.text)}</Tag>))}</p>
    </section>
  );
}

function Scores({ name, rows }: { name: string; rows: Row[] }) {
  return (
    <ul class="stack" aria-label={`Scores of ${visible(name)}`}>
      {rows.map((row, at) => (
        <li key={at} class="small">
          <VerdictChip verdict={verdictOf(row.status, row.passed)}>{line(String(row.metric), 40)} {value(numberOf(row.value))}</VerdictChip>{" "}
          <Hostile text={String(row.rationale ?? row.error ?? "")} most={400} />
        </li>
      ))}
    </ul>
  );
}
