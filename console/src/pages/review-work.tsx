// One item, full width: what is asked, what was asked and answered, and nothing that could bias; by keyboard alone.
import { useState } from "preact/hooks";
import { numberOf, value } from "../lib/format";
import { useKeys } from "../lib/keys";
import { getJson, postJson } from "../lib/api";
import { type Source, patience } from "../lib/review-session";
import { type Reviewing, useReviewing } from "../lib/reviewing";
import { type Draft, EMPTY, type Given, type Item, type Sent, type Told, answerOf, pace, sideBySide } from "../lib/review";
import { address, goTo, hrefOf, me, remember, remembered, setState } from "../lib/store";
import { visible } from "../lib/text";
import { Bars, FaultBox } from "../ui/panel";
import { Hostile, Link, Meter } from "../ui/parts";
import { Top } from "../ui/shell";
import { Agreement } from "./review-agreement";
import { Unsent } from "./review-unsent";

type Labelling = Reviewing<Item, Draft, Given, Told>;

/** The items that are drawn for a metric. */
function sourceOf(metric: string): Source<Item, Draft, Given, Sent, Told> {
  return {
    key: metric, empty: EMPTY,
    load: (who, decides, count) => getJson<Given>(
      `/v1/labels/next?metric=${encodeURIComponent(metric)}&count=${count}&adjudicate=${decides}${who ? `&reviewer=${encodeURIComponent(who)}` : ""}`, patience()),
    post: async (sent) => (await postJson("/v1/annotations", sent, patience())) as { items?: Told[] } | null,
    answer: (item, kind, draft, who, seconds) => answerOf({ ...item, metric }, kind, draft, who, seconds),
    by: ({ annotator }) => annotator ?? "",
    again: (draft) => draft,
    lacks: (_, draft) => (draft.label === "" ? "Choose first: 1 or 2" : ""),
  };
}

export function Work({ metric }: { metric: string }) {
  const [name, setName] = useState(remembered("reviewer"));
  const decides = address.value.state.mode === "decide";
  // Where there are tokens, the token's name is the reviewer's.
  const who = me.value?.needs_token ? "" : name;
  const work = useReviewing(sourceOf(metric), who, decides);
  useWorkKeys(work);
  const keep = (next: string) => {
    remember("reviewer", next);
    setName(next);
  };
  return (
    <>
      <Top title={`Review ${visible(metric)}`} ranged={false}>
        <Link class="button" href={hrefOf("review")}>All queues</Link>
        <button type="button" aria-pressed={decides} onClick={() => setState({ mode: decides ? "" : "decide" })}>Decide where answers differ</button>
      </Top>
      <main id="main" tabIndex={-1} class="review">
        <Progress work={work} />
        {!me.value?.needs_token && <Name name={name} keep={keep} />}
        <Unsent work={work} />
        {work.fault && <FaultBox fault={work.fault} retry={work.retry} />}
        {work.item ? <One key={work.item.item} work={work} item={work.item} /> : work.busy ? <Bars /> : <Done work={work} metric={metric} />}
        <Last work={work} />
      </main>
    </>
  );
}

function useWorkKeys(work: Labelling): void {
  const labels = work.given?.labels ?? [];
  const focusComment = () => document.querySelector<HTMLTextAreaElement>("#comment")?.focus();
  useKeys([
    ...labels.map((label, at) => ({ keys: String(at + 1), what: `Choose ${label}`, run: () => work.change({ label }) })),
    { keys: "Enter", what: "Commit, and the next item", run: () => work.commit("answer") },
    { keys: "f", what: "Flag it", run: () => work.change({ flagged: !work.draft.flagged }) },
    { keys: "c", what: "Comment; Ctrl+Enter commits", run: focusComment },
    { keys: "s", what: "Skip it", run: () => work.commit("skip") },
    { keys: "u", what: "Take the last answer back", run: work.undo },
    ...["j", "ArrowRight"].map((keys) => ({ keys, what: "Next item", run: () => work.walk(1) })),
    ...["k", "ArrowLeft"].map((keys) => ({ keys, what: "Item before", run: () => work.walk(-1) })),
    { keys: "Escape", what: "Out of the comment; to all queues", run: leave },
  ], [work]);
}

function leave(): void {
  const focused = document.activeElement;
  if (focused instanceof HTMLElement && focused.matches("textarea, input")) focused.blur();
  else goTo(hrefOf("review"));
}

function Name({ name, keep }: { name: string; keep: (name: string) => void }) {
  return (
    <label class="row small">Your name
      <input type="text" value={name} maxLength={100} placeholder="reviewer" onChange={(event) => keep(event.currentTarget.value.trim())} />
    </label>
  );
}

function Progress({ work }: { work: Labelling }) {
  const counts = work.given?.counts;
  if (!counts) return null;
  const { own } = work.given ?? { own: { with_label: 0, agreed: 0 } };
  const speed = pace(work.times, Date.now());
  return (
    <p class="row small muted" aria-label="Progress">
      <span class="named"><Meter share={counts.drawn > 0 ? counts.final / counts.drawn : 0} />{counts.final} of {counts.drawn} labelled</span>
      <span>{counts.mine} by you</span>
      {counts.adjudicate > 0 && <span>{counts.adjudicate} differ</span>}
      {speed !== undefined && <span>{speed} an hour</span>}
      {(work.given?.reviews_per_item ?? 1) > 1 && own.with_label > 0 && <span>you agree with {own.agreed} of {own.with_label} labels</span>}
      <span>{work.place}</span>
    </p>
  );
}

function One({ work, item }: { work: Labelling; item: Item }) {
  const { content } = item;
  return (
    <article class="panel" aria-label="Item">
      <header><h2>{visible(work.given?.question ?? "")}</h2></header>
      <div class="body stack">
        {!content.is_there && <p role="alert">The trace is not here any longer, so there is nothing to judge. Skip it.</p>}
        {content.system_prompt && <details class="fold"><summary>System prompt</summary><p class="text"><Hostile text={content.system_prompt} /></p></details>}
        {content.question && <section><h3>Question</h3><p class="text"><Hostile text={content.question} /></p></section>}
        <section><h3>Answer</h3><p class="text reviewed">{content.answer ? <Hostile text={content.answer} /> : <span class="muted">none</span>}</p></section>
        {content.documents.length > 0 && <Documents item={item} />}
        {content.is_cut && <p class="muted small">Texts are too long to be shown whole; the trace has them.</p>}
        {item.answers && <Differ item={item} />}
        <Form work={work} />
      </div>
    </article>
  );
}

function Documents({ item }: { item: Item }) {
  return (
    <section><h3>Documents</h3>
      <div class="documents">{item.content.documents.map((doc, at) => (
        <div class="document" key={at}>
          <span class="muted small">{visible(String(doc.uri ?? doc.id ?? `document ${at + 1}`))}</span>
          <p class="text"><Hostile text={String(doc.content ?? "")} most={4000} /></p>
        </div>
      ))}</div>
    </section>
  );
}

function Differ({ item }: { item: Item }) {
  return (
    <section><h3>What was said</h3>
      <div class="two">{sideBySide(item.answers ?? []).map((said, at) => (
        <div class="document" key={at}>
          <strong>{visible(String(said.label))}</strong><span class="muted small">{visible(said.reviewer)}{said.flagged ? ", flagged" : ""}</span>
          {said.comment && <p class="text"><Hostile text={said.comment} most={2000} /></p>}
        </div>
      ))}</div>
    </section>
  );
}

function Form({ work }: { work: Labelling }) {
  const { draft } = work;
  const typed = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      work.commit("answer");
    }
  };
  return (
    <div class="stack">
      <div class="row" role="group" aria-label="Your answer">
        {(work.given?.labels ?? []).map((label, at) => (
          <button key={label} type="button" aria-pressed={draft.label === label} onClick={() => work.change({ label })} title={`Key ${at + 1}`}>
            <kbd>{at + 1}</kbd> {label}
          </button>
        ))}
        <button type="button" class="primary" onClick={() => work.commit("answer")} title="Key Enter">Commit</button>
        <button type="button" onClick={() => work.commit("skip")} title="Key s">Skip</button>
        <button type="button" aria-pressed={draft.flagged} onClick={() => work.change({ flagged: !draft.flagged })} title="Key f">Flag</button>
        <button type="button" onClick={work.undo} title="Key u">Undo</button>
      </div>
      <textarea id="comment" rows={2} maxLength={4000} aria-label="Comment" placeholder="Comment, optional (key c)" value={draft.comment}
        onInput={(event) => work.change({ comment: event.currentTarget.value })} onKeyDown={typed} />
    </div>
  );
}

/** After the answer, and only then: what the evaluator and others said. */
function Last({ work }: { work: Labelling }) {
  const { told } = work;
  if (!told) return null;
  const { evaluator } = told;
  const verdict = evaluator.passed === null ? "gave no verdict" : evaluator.passed ? "passes it" : "fails it";
  return (
    <p class="small muted" role="status">
      Last item: {told.label ? `labelled ${visible(told.label)}` : told.state === "adjudicate" ? "answers differ, somebody else decides" : "waits for more answers"}.
      {" "}{visible(evaluator.evaluator)} {verdict}{evaluator.value === null ? "" : ` (${value(numberOf(evaluator.value))})`}.
    </p>
  );
}

function Done({ work, metric }: { work: Labelling; metric: string }) {
  if (work.fault) return null;
  return (
    <div class="stack">
      <div class="empty"><strong>Nothing to do</strong><p>{visible(work.given?.why_none ?? "")}</p></div>
      {(work.given?.counts.final ?? 0) > 0 && <Agreement metric={metric} />}
    </div>
  );
}
