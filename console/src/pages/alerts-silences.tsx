// Silences: what is silent, by whom and why, and ending one before its time.
import { remove } from "../lib/api";
import type { Asked } from "../lib/hooks";
import { cutText } from "../lib/limits";
import { type Timed, type When, sliceText } from "../lib/silences";
import { me, refresh, say } from "../lib/store";
import { line } from "../lib/text";
import { Panel } from "../ui/panel";
import { Hostile, Time } from "../ui/parts";
import { SilenceForm } from "./alerts-silence-form";

export function Silences({ asked, names }: { asked: Asked<Timed[]>; names: string[] }) {
  const refused = asked.fault?.kind === "forbidden";
  return (
    <Panel title="Silences" sub="times in which nobody is told; what is found is written down all the same" asked={{ ...asked, data: asked.data ?? (refused ? [] : undefined), fault: refused ? undefined : asked.fault }}>
      {(all) => (refused ? <p class="empty">Silences are about all tenants: a token without a tenant sees them.</p> : (
        <div class="stack">
          {all.length === 0 ? <p class="muted">Nothing is silent.</p> : <Table all={all} />}
          {me.value?.roles.includes("admin") && <SilenceForm names={names} />}
        </div>
      ))}
    </Panel>
  );
}

const WORDS: Record<When, { word: string; tone: string; sign: string }> = {
  active: { word: "silent now", tone: "warn", sign: "◐" }, ahead: { word: "ahead", tone: "", sign: "…" }, over: { word: "over", tone: "", sign: "✓" },
};

/** Silences that are shown; what is active comes first. */
const MOST = 200;

function Table({ all }: { all: Timed[] }) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="All silences">
      <table class="quality">
        <thead><tr>
          <th scope="col">State</th><th scope="col">Alert</th><th scope="col">Slice</th><th scope="col">From</th><th scope="col">Until</th>
          <th scope="col">By</th><th scope="col">Why</th><th scope="col"><span class="hidden">End it</span></th>
        </tr></thead>
        <tbody>{all.slice(0, MOST).map((each) => <OneSilence key={each.id} each={each} />)}</tbody>
      </table>
      {all.length > MOST && <p class="empty">{cutText(all.length, MOST, "silences")}</p>}
    </div>
  );
}

function OneSilence({ each }: { each: Timed }) {
  const { word, tone, sign } = WORDS[each.when];
  const slice = sliceText(each.slice);
  const end = () => void remove(`/v1/alerts/silences/${encodeURIComponent(each.id)}`).then(
    () => {
      say("The silence has ended");
      refresh();
    },
    (error: unknown) => say(error instanceof Error ? error.message : String(error)),
  );
  return (
    <tr>
      <td><span class={`chip ${tone}`}><span aria-hidden="true">{sign}</span>{word}</span></td>
      <td>{each.alert === null ? <span class="muted">every alert</span> : line(each.alert, 60)}</td>
      <td>{slice === "" ? <span class="muted">every slice</span> : line(slice, 80)}</td>
      <td><Time at={new Date(each.from).toISOString()} /></td><td><Time at={new Date(each.to).toISOString()} /></td>
      <td>{each.source === "config" ? <span class="muted">groundline.toml</span> : line(each.by ?? "", 60)}</td>
      <td class="clip"><Hostile text={line(each.comment ?? "", 200)} /></td>
      <td>{each.source === "http" && each.when !== "over" && me.value?.roles.includes("admin") && <button type="button" class="quiet" onClick={end}>End</button>}</td>
    </tr>
  );
}
