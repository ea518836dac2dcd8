// A line of text in an editor: what is brought with several becomes one, and is not thrown away.

/** A text as an editor has it: lines from 1 on. */
export interface Lines {
  readonly lines: number;
  line(n: number): { to: number };
}

export interface Change {
  from: number;
  to: number;
  insert: string;
}

/** A space in the place of each line end. */
export function joined(doc: Lines): Change[] {
  return Array.from({ length: Math.max(0, doc.lines - 1) }, (_, at) => {
    const { to } = doc.line(at + 1);
    return { from: to, to: to + 1, insert: " " };
  });
}

/** The same of a plain text. */
export function oneLine(text: string): string {
  return text.replace(/\r\n?|\n/g, " ");
}
