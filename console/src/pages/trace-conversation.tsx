// The conversation of a trace: each message once, with the call that added it; documents beside, the evidence marked.
import { useMemo } from "preact/hooks";
import { type Row, rowsOf } from "../lib/api";
import { useAsk } from "../lib/hooks";
import { conversationCut } from "../lib/limits";
import { type Call, merged, messagesOf } from "../lib/messages";
import { bind } from "../lib/statement";
import { setState } from "../lib/store";
import { json, line } from "../lib/text";
import { MessageBox } from "../ui/message";
import { Bars, FaultBox, ShowSql } from "../ui/panel";
import { Hostile } from "../ui/parts";
import { evidenceIn } from "./trace-evidence";
import { Documents } from "./span-detail";
import C6b from "../../sql/C6b.sql";

export function Conversation({ id, scores }: { id: string; scores: Row[] }) {
  const bound = useMemo(() => bind(C6b, { id }), [id]);
  const asked = useAsk(bound);
  const rows = useMemo(() => (asked.data ? rowsOf(asked.data) : []), [asked.data]);
  if (asked.fault) return <FaultBox fault={asked.fault} retry={asked.retry} />;
  if (!asked.data) return <Bars />;
  const cut = conversationCut(rows.length);
  return (
    <>
      {cut && <p role="status" class="muted">{cut}</p>}
      <Told rows={rows} scores={scores} />
      <ShowSql bounds={[bound]} />
    </>
  );
}

function callsOf(rows: Row[]): Call[] {
  return rows.map((row) => ({
    span: String(row.span_id),
    system: typeof row.system_prompt === "string" ? row.system_prompt : "",
    input: messagesOf(row.input_messages),
    output: messagesOf(row.output_messages),
  }));
}

/** Documents of all spans, each once. */
function documentsOf(rows: Row[]): unknown[] {
  const seen = new Map<string, unknown>();
  for (const row of rows) {
    const list = json(row.documents);
    if (!Array.isArray(list)) continue;
    for (const doc of list as Array<Record<string, unknown>>) {
      const key = JSON.stringify([doc?.id, doc?.content]);
      if (!seen.has(key)) seen.set(key, doc);
    }
  }
  return [...seen.values()];
}

function Told({ rows, scores }: { rows: Row[]; scores: Row[] }) {
  const { turns, systems } = useMemo(() => merged(callsOf(rows)), [rows]);
  const documents = useMemo(() => documentsOf(rows), [rows]);
  const evidence = useMemo(() => evidenceIn(scores, rows), [scores, rows]);
  const names = new Map(rows.map((row) => [String(row.span_id), String(row.name)]));
  if (turns.length === 0 && documents.length === 0) return <p class="muted">No span of this trace brought messages.</p>;
  return (
    <div class={documents.length > 0 ? "told" : ""}>
      <div>
        {systems.map((text) => (
          <details key={text} class="fold"><summary>System prompt <span class="muted small">{line(text, 80)}</span></summary>
            <p class="text"><Hostile text={text} /></p></details>
        ))}
        {turns.map((turn, at) => (
          <MessageBox key={at} message={turn.message} evidence={evidence} tools={
            <button type="button" class="quiet" onClick={() => setState({ span: turn.span }, true)} title="Choose this span">
              {turn.made ? "by" : "into"} {line(names.get(turn.span) ?? turn.span, 40)}
            </button>
          } />
        ))}
      </div>
      {documents.length > 0 && <Documents documents={documents} evidence={evidence} />}
    </div>
  );
}
