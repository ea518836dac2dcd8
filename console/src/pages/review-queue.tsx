// A queue of review: one item, full width, its questions by keyboard alone, and nothing that could bias.
import { useState } from "preact/hooks";
import { postJson } from "../lib/api";
import { useKeys } from "../lib/keys";
import {
  BLANK, type Field, type Queue, type QueueDraft, type QueueGiven, type QueueItem, type QueueSent, type QueueTold, fieldsOf, lacks, nextField, queueAnswer,
} from "../lib/queue";
import { pace } from "../lib/review";
import { type Source, patience } from "../lib/review-session";
import { type Reviewing, useReviewing } from "../lib/reviewing";
import { address, goTo, hrefOf, me, remember, remembered, setState } from "../lib/store";
import { useJson } from "../lib/hooks";
import { visible } from "../lib/text";
import { Bars, FaultBox } from "../ui/panel";
import { Link, Meter } from "../ui/parts";
import { Top } from "../ui/shell";
import { QueueAgreement } from "./review-queue-agreement";
import { Questions, Said, Seen } from "./review-queue-parts";
import { Unsent } from "./review-unsent";

export type Desk = Reviewing<QueueItem, QueueDraft, QueueGiven, QueueTold>;

function sourceOf(id: string, templates: Queue["templates"]): Source<QueueItem, QueueDraft, QueueGiven, QueueSent, QueueTold> {
  const base = `/v1/lab/queues/${encodeURIComponent(id)}`;
  const fields = (item: QueueItem) => fieldsOf(item, templates);
  return {
    key: id, empty: BLANK,
    load: async (who, decides, count) => (await postJson(`${base}/claim`, { count, adjudicate: decides, ...(who ? { reviewer: who } : {}) }, patience())) as QueueGiven,
    post: async ({ item, ...sent }) => ({ items: [(await postJson(`${base}/items/${item}/answer`, sent, patience())) as QueueTold] }),
    answer: (item, kind, draft, who, seconds) => queueAnswer(item, fields(item), kind, draft, who, seconds),
    by: ({ reviewer }) => reviewer ?? "",
    again: ({ comment }) => ({ ...BLANK, comment }),
    lacks: (item, draft) => lacks(fields(item), draft),
  };
}

export function QueuePage({ id }: { id: string }) {
  const asked = useJson<Queue>(`/v1/lab/queues/${encodeURIComponent(id)}`);
  const queue = asked.data;
  return (
    <>
      <Top title={queue ? `Review ${visible(queue.name)}` : "Review"} ranged={false}>
        <Link class="button" href={hrefOf("review")}>All queues</Link>
        <Decide />
      </Top>
      <main id="main" tabIndex={-1} class="review">
        {asked.fault && <FaultBox fault={asked.fault} retry={asked.retry} />}
        {queue ? queue.status === "open" ? <Working queue={queue} /> : <Closed queue={queue} /> : !asked.fault && <Bars />}
      </main>
    </>
  );
}

function Decide() {
  const decides = address.value.state.mode === "decide";
  return <button type="button" aria-pressed={decides} onClick={() => setState({ mode: decides ? "" : "decide" })}>Decide where answers differ</button>;
}

function Closed({ queue }: { queue: Queue }) {
  return (
    <div class="stack">
      <div class="empty"><strong>The queue is closed</strong><p>{queue.counts.final} of {queue.counts.items} items have their label.</p></div>
      <QueueAgreement id={queue.queue_id} />
    </div>
  );
}

function Working({ queue }: { queue: Queue }) {
  const [name, setName] = useState(remembered("reviewer"));
  // Where there are tokens, the token's name is the reviewer's.
  const who = me.value?.needs_token ? "" : name;
  const work: Desk = useReviewing(sourceOf(queue.queue_id, queue.templates), who, address.value.state.mode === "decide");
  const fields = work.item ? fieldsOf(work.item, queue.templates) : [];
  useQueueKeys(work, fields);
  const keep = (next: string) => {
    remember("reviewer", next);
    setName(next);
  };
  return (
    <>
      <Progress work={work} queue={queue} />
      {!me.value?.needs_token && (
        <label class="row small">Your name
          <input type="text" value={name} maxLength={100} placeholder="reviewer" onChange={(event) => keep(event.currentTarget.value.trim())} />
        </label>
      )}
      <Unsent work={work} />
      {work.fault && <FaultBox fault={work.fault} retry={work.retry} />}
      {work.item ? <One key={work.item.item} work={work} item={work.item} fields={fields} queue={queue} /> : work.busy ? <Bars /> : <Done work={work} queue={queue} />}
      <Said told={work.told} templates={queue.templates} />
    </>
  );
}

function useQueueKeys(work: Desk, fields: Field[]): void {
  const { draft } = work;
  const field = fields[draft.at];
  const choose = (choice: string) => {
    if (!field) return;
    const values = { ...draft.values, [field.id]: choice };
    work.change({ values, at: nextField(fields, values, draft.at) });
  };
  const step = (by: number) => work.change({ at: Math.max(0, Math.min(fields.length - 1, draft.at + by)) });
  const focus = (what: string) => document.querySelector<HTMLElement>(what)?.focus();
  useKeys([
    ...(field?.choices ?? []).slice(0, 9).map((choice, at) => ({ keys: String(at + 1), what: `${field?.title}: ${choice}`, run: () => choose(choice) })),
    { keys: "ArrowDown", what: "Next question", run: () => step(1) },
    { keys: "ArrowUp", what: "Question before", run: () => step(-1) },
    { keys: "Enter", what: "Submit, and the next item; in a text Ctrl+Enter", run: () => (field && field.kind !== "choice" && !draft.values[field.id] && !field.optional ? focus("[data-at] .answer") : work.commit("answer")) },
    { keys: "e", what: "Write in the question at hand", run: () => focus("[data-at] .answer") },
    { keys: "f", what: "Flag it", run: () => work.change({ flagged: !draft.flagged }) },
    { keys: "c", what: "Comment; Ctrl+Enter submits", run: () => focus("#comment") },
    { keys: "s", what: "Skip it", run: () => work.commit("skip") },
    { keys: "u", what: "Take the last answer back", run: work.undo },
    ...["j", "ArrowRight"].map((keys) => ({ keys, what: "Next item", run: () => work.walk(1) })),
    ...["k", "ArrowLeft"].map((keys) => ({ keys, what: "Item before", run: () => work.walk(-1) })),
    { keys: "Escape", what: "Out of the text; to all queues", run: leave },
  ], [work]);
}

function leave(): void {
  const focused = document.activeElement;
  if (focused instanceof HTMLElement && focused.matches("textarea, input")) focused.blur();
  else goTo(hrefOf("review"));
}

function Progress({ work, queue }: { work: Desk; queue: Queue }) {
  const counts = work.given?.counts ?? queue.counts;
  const speed = pace(work.times, Date.now());
  return (
    <p class="row small muted" aria-label="Progress">
      <span class="named"><Meter share={counts.items > 0 ? counts.final / counts.items : 0} />{counts.final} of {counts.items} labelled</span>
      <span>{counts.mine} by you</span>
      {counts.adjudicate > 0 && <span>{counts.adjudicate} differ</span>}
      {speed !== undefined && <span>{speed} an hour</span>}
      {queue.reviews_per_item > 1 && counts.with_label > 0 && <span>you agree with {counts.agreed} of {counts.with_label} labels</span>}
      <span>{work.place}</span>
    </p>
  );
}

function One({ work, item, fields, queue }: { work: Desk; item: QueueItem; fields: Field[]; queue: Queue }) {
  const title = queue.instructions ?? (fields.length === 1 && fields[0] ? `${fields[0].title}: ${fields[0].help || "what do you say?"}` : `${fields.length} questions`);
  return (
    <article class="panel" aria-label="Item">
      <header><h2>{visible(title)}</h2></header>
      <div class="body stack">
        <Seen item={item} fields={fields} />
        <Questions work={work} fields={fields} />
      </div>
    </article>
  );
}

function Done({ work, queue }: { work: Desk; queue: Queue }) {
  if (work.fault) return null;
  return (
    <div class="stack">
      <div class="empty"><strong>Nothing to do</strong><p>{visible(work.given?.why_none ?? "")}</p></div>
      {(work.given?.counts.final ?? 0) > 0 && <QueueAgreement id={queue.queue_id} />}
    </div>
  );
}
