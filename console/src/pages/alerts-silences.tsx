// Silences: what is silent, and the lines that silence an alert. The server keeps them in its configuration alone.
import { useMemo, useState } from "preact/hooks";
import type { Asked } from "../lib/hooks";
import { type Configured, LENGTHS, type Silence, type When, silencesOf, snippet } from "../lib/silences";
import { address, now, setState } from "../lib/store";
import { line, visible } from "../lib/text";
import { Empty, Panel } from "../ui/panel";
import { CopyButton, Time } from "../ui/parts";

export interface Status {
  configuration?: { alerts?: Configured[] };
}

export function Silences({ asked }: { asked: Asked<Status> }) {
  return (
    <Panel title="Silences" sub="times in which nobody is told; what is found is written down all the same" asked={asked}>
      {({ configuration }) => (configuration === undefined ? <NotShown /> : <All alerts={configuration.alerts ?? []} />)}
    </Panel>
  );
}

function NotShown() {
  return <p class="empty">Silences are about all tenants: a token without a tenant sees them.</p>;
}

function All({ alerts }: { alerts: Configured[] }) {
  const all = useMemo(() => silencesOf(alerts, now.value), [alerts, now.value]);
  if (alerts.length === 0) return <Empty title="No alert is defined, so none can be silent" />;
  return (
    <div class="stack">
      {all.length === 0 ? <p class="muted">No silence is configured.</p> : <Table all={all} />}
      <Propose alerts={alerts} all={all} />
    </div>
  );
}

const WORDS: Record<When, { word: string; tone: string; sign: string }> = {
  active: { word: "silent now", tone: "warn", sign: "◐" }, ahead: { word: "ahead", tone: "", sign: "…" }, over: { word: "over", tone: "", sign: "✓" },
};

function Table({ all }: { all: Silence[] }) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Silences as configured">
      <table class="quality">
        <thead><tr><th scope="col">State</th><th scope="col">Alert</th><th scope="col">From</th><th scope="col">To</th></tr></thead>
        <tbody>{all.slice(0, 200).map((each) => (
          <tr key={`${each.alert} ${each.text}`}>
            <td><SilenceChip when={each.when} /></td><td>{line(each.alert, 60)}</td>
            <td><Time at={new Date(each.from).toISOString()} /></td><td><Time at={new Date(each.to).toISOString()} /></td>
          </tr>
        ))}</tbody>
      </table>
    </div>
  );
}

export function SilenceChip({ when }: { when: When }) {
  const { word, tone, sign } = WORDS[when];
  return <span class={`chip ${tone}`}><span aria-hidden="true">{sign}</span>{word}</span>;
}

/** The form writes nothing: it makes the lines to paste, and says what reads them. */
function Propose({ alerts, all }: { alerts: Configured[]; all: Silence[] }) {
  const asked = address.value.state.silence ?? "";
  const [hours, setHours] = useState(1);
  const [reason, setReason] = useState("");
  const alert = alerts.some((each) => each.name === asked) ? asked : (alerts[0]?.name ?? "");
  const text = snippet(alert, hours, reason, now.value, all);
  return (
    <div class="stack" id="silence">
      <div class="row">
        <label class="row small">Silence
          <select value={alert} onChange={(event) => setState({ silence: event.currentTarget.value }, true)}>
            {alerts.map(({ name }) => <option key={name} value={name}>{visible(name)}</option>)}
          </select>
        </label>
        <span class="row" role="group" aria-label="For how long">
          {LENGTHS.map(([label, length]) => (
            <button key={label} type="button" aria-pressed={hours === length} onClick={() => setHours(length)}>{label}</button>
          ))}
        </span>
        <label class="row small grow">Reason
          <input type="text" class="grow" value={reason} maxLength={200} onInput={(event) => setReason(event.currentTarget.value)} />
        </label>
      </div>
      <pre class="code">{visible(text)}</pre>
      <div class="row">
        <CopyButton text={text} what="Silence" />
        <span class="muted small">Goes into this alert of groundline.toml; a SIGHUP reads it. Shown and kept is what the server was started with, not what a SIGHUP has brought since.</span>
      </div>
    </div>
  );
}
