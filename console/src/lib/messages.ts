// Messages of calls. A call repeats the history of those before it; a conversation shows each message once, with the call
// that added it.
import { json } from "./text";

export interface Part {
  type: string;
  /** Text of a text part; of a tool's answer what it said. */
  content?: unknown;
  name?: string;
  id?: string;
  arguments?: unknown;
  [key: string]: unknown;
}

export interface Message {
  role: string;
  parts: Part[];
}

export interface Turn {
  message: Message;
  /** The span of the call that brought it first. */
  span: string;
  /** Whether the call made it (output) or was given it (input). */
  made: boolean;
}

export interface Call {
  span: string;
  system: string;
  input: Message[];
  output: Message[];
}

function partOf(value: unknown): Part | undefined {
  if (typeof value === "string") return { type: "text", content: value };
  if (typeof value !== "object" || value === null) return undefined;
  const part = value as Part;
  return { ...part, type: typeof part.type === "string" ? part.type : "unknown" };
}

/** The messages of a column; what is no list of messages gives none. */
export function messagesOf(column: unknown): Message[] {
  const parsed = json(column);
  if (!Array.isArray(parsed)) return [];
  const messages: Message[] = [];
  for (const each of parsed as unknown[]) {
    if (typeof each !== "object" || each === null) continue;
    const { role, parts, content } = each as Record<string, unknown>;
    const list = Array.isArray(parts) ? parts : Array.isArray(content) ? content : content === undefined ? [] : [content];
    messages.push({
      role: typeof role === "string" ? role : "unknown",
      parts: (list as unknown[]).map(partOf).filter((part): part is Part => part !== undefined),
    });
  }
  return messages;
}

/** What tells two messages apart: role and parts, but not the ids that some libraries make anew. */
function sameness(message: Message): string {
  const parts = message.parts.map((part) => [part.type, part.content ?? "", part.name ?? "", part.arguments ?? "", part.response ?? "", part.result ?? ""]);
  return JSON.stringify([message.role, parts]);
}

/** How many messages at the start of `next` stand in the same order at the end of, or all through, what is known. */
function known(turns: string[], next: string[]): number {
  let length = 0;
  // The usual case: the history from its start.
  while (length < next.length && length < turns.length && next[length] === turns[length]) length += 1;
  if (length === next.length || length === turns.length) return length;
  // Else a window of it: libraries cut old messages away.
  for (let start = 0; start < turns.length; start++) {
    const tail = turns.slice(start);
    if (tail.length <= next.length && tail.every((each, at) => each === next[at])) return Math.max(length, tail.length);
  }
  return length;
}

interface Keyed {
  turns: Turn[];
  keys: string[];
}

/** What a call was given and made, in order. System messages are left to the system prompt. */
function keyed(call: Call): Keyed {
  const turn = (made: boolean) => (message: Message): Turn => ({ message, made, span: call.span });
  const turns = [...call.input.filter((message) => message.role !== "system").map(turn(false)), ...call.output.map(turn(true))];
  return { turns, keys: turns.map(({ message }) => sameness(message)) };
}

/** Whether all of `part` stands in `whole` in the same order, but not from its start on. */
function retold(part: string[], whole: string[]): boolean {
  if (part.length >= whole.length || part.every((key, at) => key === whole[at])) return false;
  let at = 0;
  for (const key of whole) if (key === part[at]) at += 1;
  return at === part.length;
}

/** The conversation of calls in the order of time. */
export function merged(calls: Call[]): { turns: Turn[]; systems: string[] } {
  const systems: string[] = [];
  for (const call of calls) {
    for (const text of [call.system, ...call.input.filter((m) => m.role === "system").map(textOf)]) {
      if (text !== "" && !systems.includes(text)) systems.push(text);
    }
  }
  const all = calls.map(keyed).filter(({ keys }) => keys.length > 0);
  // An agent tells question and answer; the call inside tells them with all that lies between.
  const told = all.filter(({ keys }) => !all.some((other) => retold(keys, other.keys)));
  const turns: Turn[] = [];
  const keys: string[] = [];
  for (const call of told) {
    const skip = known(keys, call.keys);
    turns.push(...call.turns.slice(skip));
    keys.push(...call.keys.slice(skip));
  }
  return { turns, systems };
}

/** The text of a message: its text parts, one a line. */
export function textOf(message: Message): string {
  return message.parts.filter((part) => part.type === "text" && typeof part.content === "string").map((part) => part.content).join("\n");
}

export function pretty(value: unknown): string {
  if (typeof value === "string") {
    const parsed = json(value);
    return parsed === undefined ? value : JSON.stringify(parsed, null, 2);
  }
  return JSON.stringify(value, null, 2) ?? "";
}
