// Silencing: an alert, one of its slices or all alerts, for how long, and why. It hides nothing: what is found is written
// down and shown all the same.
import { useState } from "preact/hooks";
import { postJson } from "../lib/api";
import { LENGTHS, silenceBody } from "../lib/silences";
import { me, refresh, remember, remembered, say } from "../lib/store";
import { line, visible } from "../lib/text";

interface FormProps {
  /** The alert; without one it is asked for. */
  alert?: string;
  slice?: string;
  /** All that are defined, to choose from. */
  names?: string[];
  close?: () => void;
}

export function Lengths({ hours, set }: { hours: number; set: (next: number) => void }) {
  return (
    <span class="row" role="group" aria-label="For how long">
      {LENGTHS.map(([label, length]) => <button key={label} type="button" aria-pressed={hours === length} onClick={() => set(length)}>{label}</button>)}
    </span>
  );
}

function Which({ names, chosen, set }: { names: string[]; chosen: string; set: (next: string) => void }) {
  return (
    <label class="row small">Silence
      <select value={chosen} onChange={(event) => set(event.currentTarget.value)}>
        <option value="">every alert</option>
        {names.map((name) => <option key={name} value={name}>{visible(name)}</option>)}
      </select>
    </label>
  );
}

export function SilenceForm({ alert, slice = "", names = [], close }: FormProps) {
  const [chosen, setChosen] = useState(alert ?? "");
  const [whole, setWhole] = useState(slice === "");
  const [hours, setHours] = useState(1);
  const [by, setBy] = useState(remembered("name"));
  const [comment, setComment] = useState("");
  // Where there are tokens, the token's name counts.
  const named = me.value?.needs_token === true;
  const [busy, setBusy] = useState(false);
  const send = async (event: Event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    try {
      await postJson("/v1/alerts/silences", silenceBody({ alert: chosen, slice: whole ? "" : slice, hours, comment, by: named ? "" : by }));
      if (!named) remember("name", by.trim());
      say("Silenced");
      setComment("");
      close?.();
      refresh();
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  return (
    <form class="row" aria-label="Silence" onSubmit={(event) => void send(event)}>
      {alert === undefined && <Which names={names} chosen={chosen} set={setChosen} />}
      {slice !== "" && (
        <span class="row" role="group" aria-label="What is silenced">
          <button type="button" aria-pressed={!whole} onClick={() => setWhole(false)}>{line(slice, 60)}</button>
          <button type="button" aria-pressed={whole} onClick={() => setWhole(true)}>every slice</button>
        </span>
      )}
      <Lengths hours={hours} set={setHours} />
      {!named && (
        <label class="row small">Who
          <input type="text" required value={by} maxLength={80} onInput={(event) => setBy(event.currentTarget.value)} />
        </label>
      )}
      <label class="row small grow">Reason
        <input type="text" class="grow" required value={comment} maxLength={400} onInput={(event) => setComment(event.currentTarget.value)} />
      </label>
      <button type="submit" disabled={busy}>Tell nobody</button>{close && <button type="button" class="quiet" onClick={close}>Cancel</button>}
    </form>
  );
}
