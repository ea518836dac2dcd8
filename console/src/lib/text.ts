// Text of spans is hostile. It is shown as text nodes only, and what a reader would not see is made visible.

// Control characters but tab and line end; bidirectional marks and overrides; zero-width characters; the byte order mark.
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;
const HIDDEN_ALL = new RegExp(HIDDEN.source, "g");

/** The text with every hidden character as a mark such as ⟨U+202E⟩. */
export function visible(text: string): string {
  if (!HIDDEN.test(text)) return text;
  return text.replace(HIDDEN_ALL, (char) => {
    const code = char.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** What is shown at first of a long text; the rest comes on demand. */
export const FIRST = 20_000;

export function cut(text: string, most = FIRST): { head: string; rest: number } {
  if (text.length <= most) return { head: text, rest: 0 };
  // A surrogate pair is not torn apart.
  const last = text.charCodeAt(most - 1);
  const end = last >= 0xd800 && last <= 0xdbff ? most - 1 : most;
  return { head: text.slice(0, end), rest: text.length - end };
}

/** The address if it may become a link: http and https only. */
export function safeLink(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text) || HIDDEN.test(text)) return undefined;
  try {
    const url = new URL(text);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** JSON of a text, or undefined where it is none. */
export function json(text: unknown): unknown {
  if (typeof text !== "string" || text === "") return typeof text === "object" && text !== null ? text : undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One line for a cell. */
export function line(text: string, most = 300): string {
  const head = text.length > most * 2 ? text.slice(0, most * 2) : text;
  const flat = visible(head.replace(/\s+/g, " ").trim());
  return flat.length > most ? `${flat.slice(0, most)}…` : flat;
}
