// The place of the editor: a plain text field until CodeMirror has come, then that, with the same text.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Editor } from "../editor/editor";
import { columns } from "../lib/columns";
import { placeIn } from "../lib/quotes";
import { wordsOf } from "../lib/words";

interface EditorBoxProps {
  text: string;
  /** Changes when the text comes from outside. Between two such changes what is typed wins, however late a page is drawn. */
  source: string | number;
  label: string;
  single?: boolean;
  /** Loads the editor on first focus instead of at once. */
  later?: boolean;
  hint?: string;
  table?: string;
  run: () => void;
  change: (text: string) => void;
}

export function EditorBox(props: EditorBoxProps) {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const [wanted, setWanted] = useState(!props.later);
  const [ready, setReady] = useState(false);
  const focused = useRef(false);
  useEffect(() => {
    if (!wanted) return undefined;
    let gone = false;
    void import("../editor/editor").then(({ makeEditor }) => {
      if (gone || !place.current) return;
      focused.current = place.current.parentElement?.contains(document.activeElement) ?? false;
      editor.current = makeEditor({
        parent: place.current, text: latest.current.text, label: props.label, single: props.single ?? false,
        ...(props.hint ? { hint: props.hint } : {}),
        words: fitting,
        run: () => latest.current.run(), change: (text) => latest.current.change(text),
      });
      setReady(true);
      void columns().then((all) => editor.current?.setColumns(all, props.table), () => undefined);
    });
    return () => {
      gone = true;
      editor.current?.destroy();
      editor.current = undefined;
    };
  }, [wanted]);
  useLayoutEffect(() => {
    // What is hidden cannot have the focus: it moves over when the editor is shown.
    if (ready && focused.current) editor.current?.focus();
  }, [ready]);
  useEffect(() => {
    if (editor.current && editor.current.text() !== props.text) editor.current.setText(props.text);
  }, [props.source]);
  return (
    <div class={props.single ? "editor single" : "editor"}>
      <div ref={place} hidden={!ready} />
      {!ready && <Plain {...props} focus={() => setWanted(true)} />}
    </div>
  );
}

/** What fits in the quotes that are open; an answer that does not come offers nothing. */
function fitting(before: string) {
  const place = placeIn(before);
  return place && { typed: place.typed, words: wordsOf(place.column).catch(() => []) };
}

function Plain(props: EditorBoxProps & { focus: () => void }) {
  const key = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(props.single || event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    props.run();
  };
  return (
    <textarea rows={props.single ? 1 : 8} spellcheck={false} aria-label={props.label} value={props.text} placeholder={props.hint ?? ""}
      {...(props.single ? { "data-filter": "" } : {})}
      onFocus={props.focus} onKeyDown={key} onInput={(event) => props.change(event.currentTarget.value)} />
  );
}
