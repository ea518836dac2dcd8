// Parts of a queue's page: what is seen of an item, its questions, and what is told after the own answer.
import { type Field, type QueueItem, type QueueTold, type Template, differingFirst, fieldsOf, nextField, saidOf } from "../lib/queue";
import { visible } from "../lib/text";
import { Hostile } from "../ui/parts";
import type { Desk } from "./review-queue";

/** Input, output and context; nothing else where the queue is blind. */
export function Seen({ item, fields }: { item: QueueItem; fields: Field[] }) {
  const { content } = item;
  return (
    <>
      {!content.is_there && <p role="alert">It is not here any longer, so there is nothing to judge. Skip it.</p>}
      {item.reason && <p class="muted small">In the queue because of: {visible(item.reason)}</p>}
      {content.system_prompt && <details class="fold"><summary>System prompt</summary><p class="text"><Hostile text={content.system_prompt} /></p></details>}
      {content.question && <section><h3>Input</h3><p class="text"><Hostile text={content.question} /></p></section>}
      <section><h3>Output</h3><p class="text reviewed">{content.answer ? <Hostile text={content.answer} /> : <span class="muted">none</span>}</p></section>
      {item.expected.length > 0 && <section><h3>Expected</h3>{item.expected.map((text, at) => <p class="text" key={at}><Hostile text={text} /></p>)}</section>}
      {content.documents.length > 0 && (
        <section><h3>Context</h3>
          <div class="documents">{content.documents.map((doc, at) => (
            <div class="document" key={at}>
              <span class="muted small">{visible(String(doc.uri ?? doc.id ?? `document ${at + 1}`))}</span>
              <p class="text"><Hostile text={String(doc.content ?? "")} most={4000} /></p>
            </div>
          ))}</div>
        </section>
      )}
      {content.is_cut && <p class="muted small">Texts are too long to be shown whole.</p>}
      {(item.answers?.length ?? 0) > 0 && <Differ item={item} fields={fields} />}
    </>
  );
}

/** Answers side by side, differences first. */
function Differ({ item, fields }: { item: QueueItem; fields: Field[] }) {
  const answers = (item.answers ?? []).filter((said) => said.kind !== "skip");
  return (
    <section><h3>What was said</h3>
      <div class="scroll" tabIndex={0} role="group" aria-label="Answers side by side">
        <table class="quality">
          <thead><tr><th scope="col">Question</th>{answers.map((said, at) => <th scope="col" key={at}>{visible(said.reviewer)}{said.flagged ? ", flagged" : ""}</th>)}</tr></thead>
          <tbody>
            {differingFirst(fields, answers).map((field) => (
              <tr key={field.id}><th scope="row">{visible(field.title)}</th>{answers.map((said, at) => <td key={at}><Hostile text={saidOf(field, said.response)} most={2000} /></td>)}</tr>
            ))}
            {answers.some((said) => said.comment) && <tr><th scope="row">comment</th>{answers.map((said, at) => <td key={at}><Hostile text={said.comment ?? ""} most={2000} /></td>)}</tr>}
          </tbody>
        </table>
      </div>
    </section>
  );
}

export function Questions({ work, fields }: { work: Desk; fields: Field[] }) {
  const { draft } = work;
  const typed = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      work.commit("answer");
    }
  };
  return (
    <div class="stack" onKeyDown={typed}>
      {fields.map((field, at) => <Question key={field.id} work={work} fields={fields} field={field} at={at} />)}
      <textarea id="comment" rows={2} maxLength={4000} aria-label="Comment" placeholder="Comment, optional (key c)" value={draft.comment}
        onInput={(event) => work.change({ comment: event.currentTarget.value })} />
      <div class="row" role="group" aria-label="The item">
        <button type="button" class="primary" onClick={() => work.commit("answer")} title="Key Enter">Submit</button>
        <button type="button" onClick={() => work.commit("skip")} title="Key s">Skip</button>
        <button type="button" aria-pressed={draft.flagged} onClick={() => work.change({ flagged: !draft.flagged })} title="Key f">Flag</button>
        <button type="button" onClick={work.undo} title="Key u">Undo</button>
      </div>
    </div>
  );
}

interface Asked {
  work: Desk;
  fields: Field[];
  field: Field;
  at: number;
}

function Question({ work, fields, field, at }: Asked) {
  const { draft } = work;
  const isAt = draft.at === at;
  const set = (value: string, moves: boolean) => {
    const values = { ...draft.values, [field.id]: value };
    work.change({ values, at: moves ? nextField(fields, values, at) : at });
  };
  const said = draft.values[field.id] ?? "";
  return (
    <div class={`question${isAt ? " at" : ""}`} role="group" aria-label={visible(field.title)} aria-current={isAt ? "step" : undefined} {...(isAt ? { "data-at": "" } : {})} onFocusCapture={() => !isAt && work.change({ at })}>
      <p><strong>{visible(field.title)}</strong> <span class="muted small">{visible(field.help)}{field.optional ? " (optional)" : ""}</span></p>
      {field.auto?.auto_eval !== undefined && <p class="small muted">{visible(field.auto.evaluator)} says {visible(field.auto.auto_eval)}{field.auto.rationale ? <>: <Hostile text={field.auto.rationale} most={1000} /></> : null}</p>}
      {field.kind === "choice" && (
        <div class="row">{field.choices.map((choice, place) => (
          <button key={choice} type="button" aria-pressed={said === choice} onClick={() => set(choice, true)} title={place < 9 ? `Key ${place + 1}` : undefined}>
            {place < 9 && <kbd>{place + 1}</kbd>} {visible(choice)}
          </button>
        ))}</div>
      )}
      {field.kind === "number" && <input class="answer" type="text" inputMode="decimal" aria-label={visible(field.title)} value={said} onInput={(event) => set(event.currentTarget.value, false)} />}
      {field.kind === "text" && <textarea class="answer" rows={2} maxLength={16000} aria-label={visible(field.title)} value={said} onInput={(event) => set(event.currentTarget.value, false)} />}
      {field.auto && said !== "" && (
        <input class="feedback" type="text" maxLength={4000} aria-label={`Why, ${visible(field.title)}`} placeholder="Why, optional" value={draft.feedback[field.auto.key] ?? ""}
          onInput={(event) => work.change({ feedback: { ...draft.feedback, [field.auto?.key ?? ""]: event.currentTarget.value } })} />
      )}
    </div>
  );
}

/** After the answer, and only then: what evaluators and others said. */
export function Said({ told, templates }: { told: QueueTold | undefined; templates: Template[] }) {
  if (!told) return null;
  const item = { ...told, trace_id: "", run_id: null, expected: [], content: { is_there: true, system_prompt: null, question: null, answer: null, documents: [], is_cut: false } };
  const label = told.label;
  const words = label ? fieldsOf(item, templates).map((field) => `${field.title} ${saidOf(field, label) || "–"}`).join(", ") : "";
  const state = label ? `labelled ${words}` : told.state === "adjudicate" ? "answers differ, somebody else decides" : "waits for more answers";
  const evaluators = told.auto_evals.map((one) => `${one.key} said ${one.auto_eval ?? "nothing"}`).join(", ");
  return <p class="small muted" role="status">Last item: {visible(state)}. {visible(evaluators)}{evaluators ? "." : ""}</p>;
}
