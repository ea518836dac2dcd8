// One message of a conversation: text as text, tool calls and answers in place, what is no text named and not loaded.
import type { ComponentChildren } from "preact";
import { type Message, type Part, pretty } from "../lib/messages";
import { type Evidence, type Marks, marked } from "../lib/evidence";
import { visible } from "../lib/text";
import { Hostile, Later } from "./parts";

const NAMES: Record<string, string> = { user: "User", assistant: "Assistant", tool: "Tool", system: "System", developer: "Developer" };

interface MessageProps {
  message: Message;
  tools?: ComponentChildren;
  /** What an evaluator points at. */
  evidence?: Evidence | undefined;
}

export function MessageBox({ message, tools, evidence }: MessageProps) {
  const known = message.role in NAMES ? message.role : "other";
  return (
    <article class={`message ${known}`}>
      <header><strong>{NAMES[message.role] ?? visible(message.role)}</strong>{tools}</header>
      {message.parts.map((part, at) => <PartBox key={at} part={part} evidence={message.role === "assistant" ? evidence : undefined} />)}
      {message.parts.length === 0 && <p class="muted small">without content</p>}
    </article>
  );
}

function PartBox({ part, evidence }: { part: Part; evidence: Evidence | undefined }) {
  if (part.type === "text" || part.type === "reasoning") {
    const text = typeof part.content === "string" ? part.content : pretty(part.content ?? "");
    return part.type === "text" ? <TextWithMark text={text} marks={evidence?.claims} /> : (
      <details class="fold"><summary>Reasoning</summary><p class="text"><Hostile text={text} /></p></details>
    );
  }
  if (part.type === "tool_call") {
    return (
      <div class="call"><span class="chip outline">calls {visible(String(part.name ?? "a tool"))}</span>
        <pre class="code"><Hostile text={pretty(part.arguments ?? "")} most={4000} /></pre></div>
    );
  }
  if (part.type === "tool_call_response") {
    const said = part.response ?? part.result ?? part.content ?? "";
    return <div class="call"><span class="chip outline">answers</span><pre class="code"><Hostile text={pretty(said)} most={4000} /></pre></div>;
  }
  return <Other part={part} />;
}

/** Characters of all texts in it. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  return typeof value === "object" && value !== null ? Object.values(value).reduce((sum: number, each) => sum + sizeOf(each), 0) : 0;
}

/** Images and files are named, not loaded: a picture in a span could tell its maker who looks. */
function Other({ part }: { part: Part }) {
  return (
    <Later summary={`${visible(part.type)}, ${sizeOf(part).toLocaleString("en")} characters`}>
      {() => <pre class="code"><Hostile text={JSON.stringify(part, null, 2)} most={4000} /></pre>}
    </Later>
  );
}

/** What is marked: claims of an answer, or what a document says to them. */
export function TextWithMark({ text, marks, kind = "claim" }: { text: string; marks?: Marks | undefined; kind?: "claim" | "support" }) {
  if (!marks) return <p class="text"><Hostile text={text} /></p>;
  return (
    <p class="text">
      {marked(text, marks).map((piece, at) => (piece.marked ? <mark key={at} class={kind}>{visible(piece.text)}</mark> : <Hostile key={at} text={piece.text} />))}
    </p>
  );
}
