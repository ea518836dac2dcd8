// Saying that somebody knows of an alert that fires. It hides nothing: the card stays, with who knows of it and until when.
import { useState } from "preact/hooks";
import { type Known, acknowledgement } from "../lib/alerts";
import { postJson } from "../lib/api";
import { me, refresh, remember, remembered, say } from "../lib/store";
import { visible } from "../lib/text";
import { Hostile, Time } from "../ui/parts";
import { Lengths } from "./alerts-silence-form";

/** Who knows of it, until when, and what that person said. */
export function KnownTo({ known }: { known: Known }) {
  return (
    <p class="row small">
      <span class="chip good"><span aria-hidden="true">✓</span>acknowledged</span>
      <span>by <strong>{visible(known.by)}</strong> until <Time at={new Date(known.until / 1e6).toISOString()} />: nobody is told again until then</span>
      {known.note && <Hostile text={known.note} most={400} />}
    </p>
  );
}

export function Acknowledge({ alert, slice, close }: { alert: string; slice: string; close: () => void }) {
  const [hours, setHours] = useState(4);
  const [by, setBy] = useState(remembered("name"));
  const [note, setNote] = useState("");
  // Where there are tokens, the token's name counts.
  const named = me.value?.needs_token === true;
  const [busy, setBusy] = useState(false);
  const send = async (event: Event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    try {
      await postJson("/v1/alerts/acknowledge", acknowledgement(alert, slice, hours, named ? "" : by, note));
      remember("name", by.trim());
      say("Acknowledged");
      close();
      refresh();
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  return (
    <form class="row" aria-label="Acknowledge" onSubmit={(event) => void send(event)}>
      <Lengths hours={hours} set={setHours} />
      {!named && (
        <label class="row small">Who
          <input type="text" required value={by} maxLength={80} onInput={(event) => setBy(event.currentTarget.value)} />
        </label>
      )}
      <label class="row small grow">Note
        <input type="text" class="grow" value={note} maxLength={400} onInput={(event) => setNote(event.currentTarget.value)} />
      </label>
      <button type="submit" disabled={busy}>I know of it</button>
      <button type="button" class="quiet" onClick={close}>Cancel</button>
    </form>
  );
}
