// The SQL editor: CodeMirror 6, loaded when somebody first needs it.
import { autocompletion, type CompletionContext, type CompletionResult, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { PostgreSQL, sql } from "@codemirror/lang-sql";
import { HighlightStyle, bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState, type Extension, Prec } from "@codemirror/state";
import { EditorView, drawSelection, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { visible } from "../lib/text";
import type { Word } from "../lib/words";
import { joined, oneLine } from "./one-line";

export interface Documented {
  table: string;
  column: string;
  type: string;
  doc: string;
}

export interface EditorOptions {
  parent: HTMLElement;
  text: string;
  label: string;
  /** One line: Enter runs. */
  single: boolean;
  hint?: string;
  /** Where quotes are open before the cursor: how much of them is typed, and what may stand there. */
  words: (before: string) => { typed: string; words: Promise<Word[]> } | undefined;
  run: () => void;
  change: (text: string) => void;
}

export interface Editor {
  text(): string;
  setText(text: string): void;
  setColumns(columns: Documented[], table?: string): void;
  focus(): void;
  destroy(): void;
}

const COLOURS = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--accent)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--bad)" },
  { tag: [tags.lineComment, tags.blockComment], color: "var(--muted)", fontStyle: "italic" },
  { tag: tags.typeName, color: "var(--warn)" },
]);

const LOOK = EditorView.theme({
  "&": { fontSize: "12.5px", backgroundColor: "var(--surface)", color: "var(--text)" },
  ".cm-content": { fontFamily: "var(--mono)", caretColor: "var(--text)", padding: "6px 0" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--muted)", border: "none" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused": { outline: "none" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--band)" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--text)", border: "1px solid var(--line)", borderRadius: "6px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent-soft)", color: "var(--text)" },
  ".cm-completionInfo": { maxWidth: "340px", whiteSpace: "normal" },
  ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal" },
  ".cm-placeholder": { color: "var(--muted)" },
});

/** The functions that this server has beside DataFusion's. */
const FUNCTIONS: ReadonlyArray<readonly [string, string]> = [
  ["quality_rate", "(passed, inclusion_probability [, trace_id]): the share of true, with interval and n"],
  ["quality_mean", "(value, inclusion_probability [, trace_id]): the mean, with interval and n"],
  ["quality_total", "(value, inclusion_probability): the total over all items"],
  ["quality_quantile", "(value, q, inclusion_probability)"],
  ["quality_diff", "(a, b, inclusion_probability [, trace_id]): the mean of a − b of the same item"],
  ["ppi_rate", "(passed, label, π, π_label): the rate that labels would give"],
  ["ppi_mean", "(value, label, π, π_label)"],
  ["attr", "(json, key): the text of one attribute"],
];

function nonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
}

function functions(context: CompletionContext): CompletionResult | null {
  const word = context.matchBefore(/\w{2,}/);
  if (!word) return null;
  const options = FUNCTIONS.map(([label, info]) => ({ label, info, type: "function", apply: `${label}(` }));
  return { from: word.from, options, validFor: /^\w*$/ };
}

/** Longest text before the cursor that is looked at. */
const LOOKED_AT = 2000;

/** Keys and values come from spans, so they are shown as any text of a span is, and written as SQL quotes them. */
function quoted(words: EditorOptions["words"]) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const found = words(context.state.sliceDoc(Math.max(0, context.pos - LOOKED_AT), context.pos));
    if (!found) return null;
    const close = context.state.sliceDoc(context.pos, context.pos + 1) === "'" ? "" : "'";
    const options = (await found.words).map(({ word, n }, at) => (
      { label: visible(word), apply: word.replace(/'/g, "''") + close, detail: `n ${n}`, type: "text", boost: -Math.min(99, at) }));
    return { from: context.pos - found.typed.length, options, validFor: /^[^']*$/ };
  };
}

function columnsOf(columns: Documented[], table: string) {
  return columns.filter((each) => each.table === table)
    .map((each) => ({ label: each.column, detail: each.type, info: each.doc, type: "property" }));
}

function language(columns: Documented[], table?: string): Extension {
  const schema: Record<string, ReturnType<typeof columnsOf>> = {};
  for (const each of columns) schema[each.table] ??= columnsOf(columns, each.table);
  return sql({ dialect: PostgreSQL, schema, upperCaseKeywords: true, ...(table ? { defaultTable: table } : {}) });
}

function keysOf(options: EditorOptions): Extension {
  const run = () => {
    options.run();
    return true;
  };
  const own = [{ key: "Mod-Enter", run }, ...(options.single ? [{ key: "Enter", run }] : [])];
  // A single line leaves Enter to an open list of completions.
  return [Prec.high(keymap.of(completionKeymap)), Prec.default(keymap.of(own)), keymap.of([...historyKeymap, ...defaultKeymap])];
}

export function makeEditor(options: EditorOptions): Editor {
  const spoken = new Compartment();
  const view = new EditorView({
    parent: options.parent,
    state: EditorState.create({
      doc: options.single ? oneLine(options.text) : options.text,
      extensions: [
        EditorView.cspNonce.of(nonce()), history(), drawSelection(), bracketMatching(), keysOf(options),
        autocompletion({ defaultKeymap: false }), syntaxHighlighting(COLOURS), LOOK, spoken.of(language([])),
        PostgreSQL.language.data.of({ autocomplete: functions }), PostgreSQL.language.data.of({ autocomplete: quoted(options.words) }),
        EditorView.contentAttributes.of({ "aria-label": options.label, ...(options.single ? { "data-filter": "" } : {}) }),
        EditorView.updateListener.of((update) => update.docChanged && options.change(update.state.doc.toString())),
        options.single
          ? EditorState.transactionFilter.of((tr) => (tr.newDoc.lines > 1 ? [tr, { changes: joined(tr.newDoc), sequential: true }] : tr))
          : [lineNumbers(), EditorView.lineWrapping],
        options.hint ? placeholder(options.hint) : [],
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    setText: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    setColumns: (columns, table) => view.dispatch({ effects: spoken.reconfigure(language(columns, table)) }),
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}
