// What people said about a trace, and saying it; what was decided about it.
import { useMemo, useState } from "preact/hooks";
import { type Subject, WORDS, keptText, keyOf, subjectsOf } from "../lib/annotate";
import { type Row, postJson, rowsOf } from "../lib/api";
import { numberOf, value } from "../lib/format";
import { useAsk } from "../lib/hooks";
import { bind } from "../lib/statement";
import { me, say } from "../lib/store";
import { visible } from "../lib/text";
import { Panel } from "../ui/panel";
import { Hostile, Time } from "../ui/parts";
import C7 from "../../sql/C7.sql";
import C8 from "../../sql/C8.sql";

interface AnnotationProps {
  id: string;
  span: string;
  scores: Row[];
}

export function Annotations({ id, span, scores }: AnnotationProps) {
  const bound = useMemo(() => bind(C7, { id }), [id]);
  const asked = useAsk(bound);
  return (
    <>
      <Panel title="Annotations" asked={asked} bound={bound}>
        {(table) => (
          <div class="stack">
            {table.rows === 0 && <p class="muted">Nobody has judged this trace yet.</p>}
            <ul class="stack">{rowsOf(table).map((row) => <Said key={String(row.annotation_id)} row={row} />)}</ul>
            <Form id={id} span={span} scores={scores} done={asked.retry} />
          </div>
        )}
      </Panel>
      <Decisions id={id} />
    </>
  );
}

function Said({ row }: { row: Row }) {
  return (
    <li class="small">
      <strong><Hostile text={String(row.name)} /></strong>{" "}
      {row.label !== null && <span class="chip outline"><Hostile text={String(row.label)} /></span>}{" "}
      {row.value !== null && value(numberOf(row.value))} <span class="muted"><Hostile text={String(row.annotator ?? "")} />, <Time at={String(row.created_at)} /></span>
      {row.comment !== null && <p class="text"><Hostile text={String(row.comment)} most={1000} /></p>}
    </li>
  );
}

function Form({ id, span, scores, done }: AnnotationProps & { done: () => void }) {
  const subjects = useMemo(() => subjectsOf(scores, span), [scores, span]);
  const [key, setKey] = useState("");
  const subject = subjects.find((each) => keyOf(each) === key) ?? (subjects[0] as Subject);
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const label = (event.submitter as HTMLButtonElement | null)?.value ?? "";
    const field = form.elements.namedItem("comment") as HTMLInputElement;
    setBusy(true);
    try {
      const answer = await annotate({ trace_id: id, span_id: span, name: subject.name, label, comment: field.value.trim() });
      field.value = "";
      say(visible(keptText(subject, answer)));
      setTimeout(done, 300);
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  return (
    <form class="stack" onSubmit={(event) => void submit(event)}>
      <div class="row">
        <label>What <select name="name" value={keyOf(subject)} onChange={(event) => setKey(event.currentTarget.value)}>
          <Choices title="The answer" subjects={subjects.filter((each) => each.about === "answer")} />
          <Choices title="What the evaluator says of it" subjects={subjects.filter((each) => each.about === "verdict")} />
        </select></label>
        <input class="grow" type="text" name="comment" maxLength={2000} aria-label="Comment" placeholder="Comment, optional" />
      </div>
      <div class="row">
        {WORDS[subject.about].map(([label, says]) => <button key={label} type="submit" value={label} disabled={busy}>{says}</button>)}
      </div>
    </form>
  );
}

function Choices({ title, subjects }: { title: string; subjects: Subject[] }) {
  if (subjects.length === 0) return null;
  return <optgroup label={title}>{subjects.map((each) => <option key={keyOf(each)} value={keyOf(each)}>{visible(each.name)}</option>)}</optgroup>;
}

export interface Annotation {
  trace_id: string;
  span_id: string;
  name: string;
  label: string;
  comment?: string;
}

/** Gives what the server has to tell of the label, such as that nothing counts its word. */
export async function annotate(annotation: Annotation): Promise<unknown> {
  const { comment, ...rest } = annotation;
  return postJson("/v1/annotations", { ...rest, ...(comment ? { comment } : {}), annotator: me.value?.name || "console" });
}

/** Asked for when opened: most readers do not need it. */
function Decisions({ id }: { id: string }) {
  const [open, setOpen] = useState(false);
  const bound = useMemo(() => bind(C8, { id }), [id]);
  const asked = useAsk(open ? bound : null);
  return (
    <details class="panel fold-panel" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Sampling decisions</summary>
      {open && (
        <Panel title="Decisions" asked={asked} bound={bound}>
          {(table) => (table.rows === 0 ? <p class="muted">No rule has decided about this trace.</p> : (
            <div class="scroll"><table>
              <thead><tr><th scope="col">Rule</th><th scope="col">Decision</th><th scope="col">Why</th><th scope="col" class="num">π</th></tr></thead>
              <tbody>{rowsOf(table).map((row, at) => (
                <tr key={at}><td>{visible(String(row.rule))}</td><td>{visible(String(row.decision))}</td><td>{visible(String(row.reason ?? ""))}</td><td class="num">{value(numberOf(row.inclusion_probability))}</td></tr>
              ))}</tbody>
            </table></div>
          ))}
        </Panel>
      )}
    </details>
  );
}
