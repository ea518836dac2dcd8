// One alert that is not quiet: the slice, the interval against what is allowed, the evidence against its line, the traces.
import { useMemo, useState } from "preact/hooks";
import { type Shown, sinceOf } from "../lib/alerts";
import { postJson } from "../lib/api";
import type { Delivery } from "../lib/deliveries";
import { evidenceOf } from "../lib/evidence";
import { count, millis, numberOf, value } from "../lib/format";
import type { Timed } from "../lib/silences";
import { hrefOf, me, refresh, say } from "../lib/store";
import { visible } from "../lib/text";
import { Chart } from "../ui/chart";
import { Hostile, Interval, Link, Time, TraceLink, Whisker } from "../ui/parts";
import { Acknowledge, KnownTo } from "./alerts-acknowledge";
import { SilenceForm } from "./alerts-silence-form";
import { Told } from "./alerts-told";
import { Watched, sinceOnset, watchedHref } from "./alerts-watched";

const STATES: Record<string, { sign: string; tone: string }> = {
  firing: { sign: "!", tone: "bad" }, pending: { sign: "…", tone: "warn" }, ok: { sign: "✓", tone: "good" }, resolved: { sign: "✓", tone: "good" },
};

export function StateChip({ state }: { state: string }) {
  const { sign, tone } = STATES[state] ?? { sign: "·", tone: "" };
  return <span class={`chip ${tone}`}><span aria-hidden="true">{sign}</span>{visible(state)}</span>;
}

interface CardProps {
  shown: Shown;
  /** Whether the address names it. */
  current: boolean;
  silence: Timed | undefined;
  /** Who was told; undefined for callers who are not told that. */
  told: Delivery[] | undefined;
}

export function AlertCard({ shown, current, silence, told }: CardProps) {
  const [asking, setAsking] = useState<"" | "acknowledge" | "silence">("");
  const flip = (next: "acknowledge" | "silence") => setAsking(asking === next ? "" : next);
  const close = () => setAsking("");
  const may = me.value?.roles.includes("admin");
  return (
    <article class="alert-card" aria-current={current ? "true" : undefined}>
      <div class="row">
        <StateChip state={shown.state} />
        <h3 class="name"><Link href={hrefOf("alerts", "", { alert: shown.alert, slice: shown.slice })} title="The address of this alert">{visible(shown.alert)}</Link></h3>
        <strong>{shown.slice === "" ? "all traffic" : visible(shown.slice)}</strong>
        {shown.severity && <span class="chip outline">{visible(shown.severity)}</span>}
        {shown.method && <span class="chip outline">{visible(shown.method)}</span>}
        <span class="muted small">since <Time at={sinceOf(shown)} /></span>
        {silence && <span class="chip warn"><span aria-hidden="true">◐</span>silent until <Time at={new Date(silence.to).toISOString()} /></span>}
        <span class="grow" />
        {may && shown.state === "firing" && <button type="button" aria-expanded={asking === "acknowledge"} onClick={() => flip("acknowledge")}>Acknowledge</button>}
        <WorstLinks shown={shown} />
        {may && <button type="button" aria-expanded={asking === "silence"} onClick={() => flip("silence")}>Silence</button>}
      </div>
      {asking === "acknowledge" && <Acknowledge alert={shown.alert} slice={shown.slice} close={close} />}
      {asking === "silence" && <SilenceForm alert={shown.alert} slice={shown.slice} close={close} />}
      {shown.acknowledged && <KnownTo known={shown.acknowledged} />}
      <div class="alert-body">
        <Facts shown={shown} />
        <Evidence shown={shown} />
      </div>
      {shown.message && <p class="small text"><Hostile text={shown.message} most={800} /></p>}
      <Examples shown={shown} />
      {told && <Told told={told} fires={shown.state === "firing"} />}
    </article>
  );
}

function WorstLinks({ shown }: { shown: Shown }) {
  if (shown.metric === "") return null;
  const onset = sinceOnset(shown);
  const [all, since] = [watchedHref(shown), onset && watchedHref(shown, onset)];
  return (
    <>
      {all !== undefined && <Link class="button" href={all}>Worst traces</Link>}
      {since !== undefined && <Link class="button" href={since}>since the onset</Link>}
      {shown.method === "change" && me.value?.roles.includes("admin") && <Rebase shown={shown} />}
    </>
  );
}

/** After a change that is meant: the baseline is learned anew. It asks twice. */
function Rebase({ shown }: { shown: Shown }) {
  const [sure, setSure] = useState(false);
  const act = async () => {
    if (!sure) return setSure(true);
    setSure(false);
    try {
      await postJson("/v1/alerts/rebase", { alert: shown.alert, slice: shown.slice });
      say("The baseline is learned anew");
      refresh();
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    }
    return undefined;
  };
  return <button type="button" onClick={() => void act()}>{sure ? "Forget the baseline: sure?" : "The change is meant"}</button>;
}

function Facts({ shown }: { shown: Shown }) {
  const estimate = shown.estimate ?? { estimate: null, lower: null, upper: null, n: shown.n };
  const top = Math.min(1, Math.max(estimate.upper ?? 0, shown.bound ?? 0) * 1.2 || 1);
  return (
    <dl class="kv">
      <dt>Share that fails</dt><dd><span class="named"><Whisker {...estimate} high={top} /><Watched href={watchedHref(shown)}><Interval {...estimate} /></Watched></span></dd>
      <dt>Allowed</dt><dd>{shown.bound === null ? "–" : value(Number(shown.bound.toPrecision(3)))}</dd>
      <dt>False alarms</dt><dd>{shown.alpha === null ? "–" : `α = ${shown.alpha}, the line is 1/α = ${value(Math.round(1 / shown.alpha))}`}</dd>
      <dt>Evidence</dt><dd>{shown.statistic === null ? "–" : <Watched href={watchedHref(shown)}>{value(shown.statistic)}, from n {count(shown.n)}</Watched>}</dd>
    </dl>
  );
}

/** The statistic over time on a log scale; a single value as a bar against its line. */
function Evidence({ shown }: { shown: Shown }) {
  const { xs, series } = useMemo(() => {
    const rows = [...shown.history].reverse().filter((row) => (numberOf(row.statistic) ?? 0) > 0);
    return {
      xs: rows.map((row) => millis(String(row.evaluated_at)) / 1000),
      series: [{ label: "evidence", values: rows.map((row) => numberOf(row.statistic)) }],
    };
  }, [shown.history]);
  const line = shown.alpha ? 1 / shown.alpha : null;
  const lines = useMemo(() => (line === null ? [] : [{ y: line, text: `1/α = ${value(Math.round(line))}`, short: "1/α" }]), [line]);
  if (xs.length >= 2) return <Chart name="Evidence against the objective, log scale" xs={xs} timed series={series} log lines={lines} height={120} />;
  if (shown.statistic === null || shown.statistic <= 0 || line === null) return null;
  const most = Math.max(Math.log10(shown.statistic), Math.log10(line)) * 1.1;
  const share = (x: number) => `${Math.min(100, Math.max(1, (Math.log10(x) / most) * 100))}%`;
  return (
    <div class="logbar" role="img" aria-label={`Evidence ${value(shown.statistic)} against the line ${value(line)}, log scale`}>
      <i style={{ width: share(Math.max(1.05, shown.statistic)) }} />
      <b style={{ left: share(line) }} /><span class="small muted" style={{ left: share(line) }}>1/α</span>
    </div>
  );
}

function Examples({ shown }: { shown: Shown }) {
  if (!shown.examples?.length) return null;
  return (
    <ol class="examples">
      {shown.examples.slice(0, 5).map((example) => (
        <li key={example.trace_id} class="small">
          <TraceLink id={example.trace_id}>{visible(example.trace_id.slice(-8))}</TraceLink>{" "}
          <strong>{value(numberOf(example.value))}</strong>{" "}
          <Hostile text={evidenceOf({ rationale: example.rationale })?.claims.parts[0] || String(example.rationale ?? "")} most={240} />
        </li>
      ))}
    </ol>
  );
}
