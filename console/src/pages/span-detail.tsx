// Everything that one span brought: messages, documents, tool calls, attributes, events, links, and the raw columns.
import { useMemo } from "preact/hooks";
import { type Row, rowsOf } from "../lib/api";
import { numberOf, value } from "../lib/format";
import { useAsk } from "../lib/hooks";
import { type Evidence, supportIn } from "../lib/evidence";
import { messagesOf, pretty } from "../lib/messages";
import { bind } from "../lib/statement";
import { hrefOf } from "../lib/store";
import { json, safeLink, visible } from "../lib/text";
import { MessageBox, TextWithMark } from "../ui/message";
import { Panel } from "../ui/panel";
import { CopyButton, Hostile, Later, Link, TraceLink } from "../ui/parts";
import { evidenceIn } from "./trace-evidence";
import { AddToDataset } from "./trace-keep";
import { SendToReview } from "./trace-send";
import C6 from "../../sql/C6.sql";

interface DetailProps {
  trace: string;
  span: string;
  /** The spans of the trace, without their texts. */
  rows?: readonly unknown[];
  scores?: readonly Row[];
}

const NONE: readonly Row[] = [];

/** What failed in this span, else in its trace; the texts of other spans are not known here. */
function useEvidence(row: Row | undefined, rows: readonly unknown[], scores: readonly Row[]): Evidence | undefined {
  return useMemo(() => {
    const spans = (rows as Row[]).map((each) => (row && each.span_id === row.span_id ? row : each));
    return row && (evidenceIn(scores, spans, String(row.span_id)) ?? evidenceIn(scores, spans));
  }, [row, rows, scores]);
}

export function SpanDetail({ trace, span, rows = NONE, scores = NONE }: DetailProps) {
  const bound = useMemo(() => bind(C6, { id: trace, span }), [trace, span]);
  const asked = useAsk(bound);
  const row = useMemo(() => asked.data && rowsOf(asked.data)[0], [asked.data]);
  const evidence = useEvidence(row, rows, scores);
  const asks = row && (row.input_messages !== null || row.question !== null)
    ? <><AddToDataset trace={trace} span={span} /><Link class="button" href={hrefOf("lab", "playground", { trace, span })}>Ask it in the playground</Link></> : null;
  const tools = <><SendToReview trace={trace} span={span} scores={scores} />{asks}</>;
  return (
    <Panel title="What it brought" asked={asked} bound={bound} tools={tools}>
      {() => (row ? <Payload row={row} evidence={evidence} /> : <p class="muted">The span is not here any more.</p>)}
    </Panel>
  );
}

function Payload({ row, evidence }: { row: Row; evidence: Evidence | undefined }) {
  const input = useMemo(() => messagesOf(row.input_messages), [row]);
  const output = useMemo(() => messagesOf(row.output_messages), [row]);
  const plain = input.length + output.length === 0;
  return (
    <div class="stack">
      {row.status_message !== null && <p class="bad"><Hostile text={String(row.status_message)} /></p>}
      {plain && row.question !== null && <Text title="Question" text={String(row.question)} />}
      {plain && row.answer !== null && <Text title="Answer" text={String(row.answer)} evidence={evidence} />}
      {input.length > 0 && <section><h3>Given</h3>{input.map((message, at) => <MessageBox key={at} message={message} />)}</section>}
      {output.length > 0 && <section><h3>Answered</h3>{output.map((message, at) => <MessageBox key={at} message={message} evidence={evidence} />)}</section>}
      <Documents documents={row.documents} evidence={evidence} />
      <Events events={row.events} />
      <Links links={row.links} />
      <Fold title="Attributes" value={row.attributes} />
      <Fold title="Resource" value={row.resource_attributes} />
      <Later summary={<>The row of this span as JSON <span class="muted small">its columns; the OTLP that was sent is not kept</span></>}>
        {() => <Whole text={JSON.stringify(row, null, 2)} />}
      </Later>
    </div>
  );
}

function Whole({ text }: { text: string }) {
  return <><CopyButton text={text} what="JSON" /><pre class="code"><Hostile text={text} /></pre></>;
}

function Text({ title, text, evidence }: { title: string; text: string; evidence?: Evidence | undefined }) {
  return <section><h3>{title}</h3><TextWithMark text={text} marks={evidence?.claims} /></section>;
}

interface Doc {
  id?: unknown;
  uri?: unknown;
  content?: unknown;
  score?: unknown;
  rank?: unknown;
}

export function Documents({ documents, evidence }: { documents: unknown; evidence?: Evidence | undefined }) {
  const list = json(documents);
  if (!Array.isArray(list) || list.length === 0) return null;
  return (
    <section><h3>Documents</h3>
      <ol class="documents">
        {(list as Doc[]).map((doc, at) => <DocumentBox key={at} doc={doc ?? {}} place={at + 1} evidence={evidence} />)}
      </ol>
    </section>
  );
}

function DocumentBox({ doc, place, evidence }: { doc: Doc; place: number; evidence: Evidence | undefined }) {
  const hit = supportIn(evidence, doc, place);
  const score = numberOf(doc.score);
  const uri = typeof doc.uri === "string" ? doc.uri : "";
  const link = safeLink(uri);
  return (
    <li class={hit ? "document hit" : "document"}>
      <div class="row small">
        <span class="chip outline">{place}</span>
        <span class="mono">{visible(String(doc.id ?? ""))}</span>
        {link ? <a href={link} target="_blank" rel="noopener noreferrer">{visible(uri)}</a> : <span class="muted">{visible(uri)}</span>}
        {score !== null && <span class="muted">score {value(score)}</span>}
        {hit && <span class="chip warn">best evidence</span>}
      </div>
      <TextWithMark text={String(doc.content ?? "")} marks={hit} kind="support" />
    </li>
  );
}

function Events({ events }: { events: unknown }) {
  const list = json(events);
  if (!Array.isArray(list) || list.length === 0) return null;
  return (
    <section><h3>Events</h3>
      {(list as Array<Record<string, unknown>>).map((event, at) => (
        <Later key={at} summary={visible(String(event?.name ?? "event"))}>{() => <pre class="code"><Hostile text={pretty(event?.attributes ?? event)} most={6000} /></pre>}</Later>
      ))}
    </section>
  );
}

function Links({ links }: { links: unknown }) {
  const list = json(links);
  if (!Array.isArray(list) || list.length === 0) return null;
  return (
    <section><h3>Links</h3>
      <ul>{(list as Array<Record<string, unknown>>).map((link, at) => (
        <li key={at}><TraceLink id={String(link?.trace_id ?? "")} span={String(link?.span_id ?? "")} /></li>
      ))}</ul>
    </section>
  );
}

function Fold({ title, value: given }: { title: string; value: unknown }) {
  const entries = useMemo(() => Object.entries((json(given) ?? {}) as Record<string, unknown>), [given]);
  if (entries.length === 0) return null;
  return (
    <Later summary={<>{title} <span class="muted small">{entries.length}</span></>}>
      {() => (
        <dl class="kv small">{entries.map(([key, each]) => (
          <>
            <dt class="mono">{visible(key)}</dt>
            <dd class="mono"><Hostile text={typeof each === "string" ? each : JSON.stringify(each)} most={1000} /></dd>
          </>
        ))}</dl>
      )}
    </Later>
  );
}
