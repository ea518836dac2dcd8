// Page 5: what fires, with the evidence against its line, and what has changed.
import { useMemo } from "preact/hooks";
import { type Row, rowsOf } from "../lib/api";
import { type Shown, type Standing, named, shownOf, sinceOf, standingsTold } from "../lib/alerts";
import { type Delivery, toldOf } from "../lib/deliveries";
import { millis, numberOf } from "../lib/format";
import { type Asked, useAsk, useJson } from "../lib/hooks";
import { CHANGES_SHOWN, changesCut } from "../lib/limits";
import { fixed, stateOf } from "../lib/range";
import { type Bound, bind } from "../lib/statement";
import { server } from "../lib/server";
import { type Silence, type Timed, activeOf, timed } from "../lib/silences";
import { address, now as present, hrefOf, span } from "../lib/store";
import { line } from "../lib/text";
import { useWalk } from "../lib/walk";
import { Empty, Panel } from "../ui/panel";
import { Interval, Link, Time } from "../ui/parts";
import { Top } from "../ui/shell";
import { AlertCard, StateChip } from "./alerts-card";
import { Silences } from "./alerts-silences";
import { Watched, watchedHref } from "./alerts-watched";
import C14 from "../../sql/C14.sql";

const NONE: Row[] = [];

export default function Alerts() {
  const { from, to } = fixed(span.value);
  const bound = useMemo(() => bind(C14, { from, to }), [from, to]);
  const history = useAsk(bound);
  const now = useJson<{ alerts: Standing[]; deliveries: Delivery[] }>("/v1/alerts");
  const silent = useJson<{ silences: Silence[] }>("/v1/alerts/silences");
  const silences = useMemo(() => silent.data && timed(silent.data.silences, present.value), [silent.data, present.value]);
  const changes = useMemo(() => history.data && rowsOf(history.data), [history.data]);
  const rows = changes ?? NONE;
  // A token of one tenant may not ask where all alerts stand: then what the table says is shown.
  const told = useMemo(() => standingsTold(now, { data: changes, fault: history.fault }), [now.data, now.fault, changes, history.fault]);
  const definitions = server.value?.configuration?.alerts;
  const shown = useMemo(() => told.standings && shownOf(told.standings, rows, definitions), [told, rows, definitions]);
  const { busy, answers, retry } = told.isPart ? history : now;
  const asked: Asked<Shown[]> = { data: shown, fault: told.fault, busy, answers, retry };
  useWalk();
  const names = [...new Set([...(definitions ?? []).map((each) => each.name), ...(shown ?? []).map((each) => each.alert)])];
  return (
    <>
      <Top title="Alerts" />
      <main id="main" tabIndex={-1}>
        <Panel title="Where alerts stand" sub="firing first; the share that fails, with its interval" asked={asked}>
          {(all) => (told.isPart && all.length === 0 ? <NoChange /> : <Standings all={all} silences={silences ?? []} deliveries={now.data?.deliveries} />)}
        </Panel>
        <Silences asked={{ ...silent, data: silences }} names={names} />
        <History asked={history} bound={bound} rows={rows} />
      </main>
    </>
  );
}

/** The alert that the address names stands first, whatever its state: messages link here. */
function Standings({ all, silences, deliveries }: { all: Shown[]; silences: Timed[]; deliveries: Delivery[] | undefined }) {
  const { alert = "", slice } = address.value.state;
  if (all.length === 0) return <NoAlert />;
  const wanted = alert === "" ? undefined : named(all, alert, slice);
  const others = all.filter((each) => each !== wanted && each.state !== "ok" && each.state !== "resolved");
  const loud = wanted ? [wanted, ...others] : others;
  const quiet = all.filter((each) => !loud.includes(each));
  return (
    <div class="stack">
      {alert !== "" && !wanted && <p role="status"><strong>{line(alert, 80)}</strong>{slice ? <> on <strong>{line(slice, 80)}</strong></> : ""} is not here: it is not defined any more, or nothing of this slice is watched now. What changed is below.</p>}
      {others.length === 0 && wanted?.state !== "firing" && <Quiet all={all} />}
      {loud.map((each) => (
        <AlertCard
          key={each.alert + each.slice} shown={each} current={each === wanted} silence={activeOf(silences, each.alert, each.slice)}
          told={deliveries && toldOf(deliveries, each.alert, each.slice)}
        />
      ))}
      {quiet.length > 0 && <QuietTable all={quiet} />}
    </div>
  );
}

function Quiet({ all }: { all: Shown[] }) {
  const since = Math.max(...all.map((each) => each.since / 1e6));
  const alphas = [...new Set(all.map((each) => each.alpha).filter((alpha): alpha is number => alpha !== null))];
  return (
    <Empty title="All quiet">
      <p>{since > 0 && <>Nothing has fired since <Time at={new Date(since).toISOString()} />. </>}
        {alphas.length > 0 && `The declared false-alarm rate is ${alphas.join(" or ")}.`}</p>
    </Empty>
  );
}

function QuietTable({ all }: { all: Shown[] }) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Quiet alerts" data-walk>
      <table class="quality">
        <thead><tr>
          <th scope="col">State</th><th scope="col">Alert</th><th scope="col">Slice</th><th scope="col">Share that fails</th>
          <th scope="col" class="num">Allowed</th><th scope="col" class="num">Evidence</th><th scope="col">Since</th>
        </tr></thead>
        <tbody>{all.map((each) => (
          <tr key={each.alert + each.slice}>
            <td><StateChip state={each.state} /></td>
            <td><Link href={hrefOf("alerts", "", { alert: each.alert, slice: each.slice })}>{line(each.alert, 60)}</Link></td><td>{each.slice === "" ? <span class="muted">all traffic</span> : line(each.slice, 80)}</td>
            <td><Watched href={watchedHref(each)}><Interval {...(each.estimate ?? { estimate: null, lower: null, upper: null, n: each.n })} /></Watched></td>
            <td class="num">{each.bound === null ? "–" : each.bound.toFixed(3)}</td>
            <td class="num">{each.statistic === null ? "–" : <Watched href={watchedHref(each)}>{each.statistic.toPrecision(3)}</Watched>}</td>
            <td><Time at={sinceOf(each)} /></td>
          </tr>
        ))}</tbody>
      </table>
    </div>
  );
}

const EXAMPLE = `[[alerts]]
name = "hallucination-drift"
metric = "hallucination"     # the share with passed = false is watched
slices = ["request_model"]   # each model alone; all share alpha
method = "objective"         # threshold | burn_rate | objective | change
objective = 0.9              # the share that should pass
alpha = 0.001                # with the objective kept it ever fires with this probability at most
`;

/** Whether an alert is defined is not told to everybody. */
function NoChange() {
  return (
    <Empty title="No alert changed its state in this time range">
      <p>Where all alerts stand is about all tenants: a token without a tenant sees it.</p>
    </Empty>
  );
}

function NoAlert() {
  return (
    <Empty title="No alert is defined">
      <p>This would be one, in groundline.toml; a SIGHUP reads it:</p>
      <pre class="code">{EXAMPLE}</pre>
    </Empty>
  );
}

function History({ asked, bound, rows }: { asked: Asked<unknown>; bound: Bound; rows: Row[] }) {
  const cut = changesCut(rows.length);
  return (
    <Panel title="What changed" sub="newest first, in this time range" asked={asked} bound={bound} flush>
      {() => (rows.length === 0 ? <p class="empty">No alert changed its state in this time range.</p> : <>
        {cut && <p role="status" class="under small muted">{cut}</p>}
        <div class="scroll" tabIndex={0} role="group" aria-label="Changes" data-walk>
          <table class="quality">
            <thead><tr><th scope="col">Time</th><th scope="col">State</th><th scope="col">Alert</th><th scope="col">Slice</th><th scope="col">Share that fails</th><th scope="col">What was said</th></tr></thead>
            <tbody>{rows.slice(0, CHANGES_SHOWN).map((row, at) => <Change key={at} row={row} />)}</tbody>
          </table>
        </div>
      </>)}
    </Panel>
  );
}

/** This time range as it was then: what came later did not count. */
function untilThen(at: string): Record<string, string> {
  const [{ from }, to] = [span.value, millis(at)];
  return from < to ? stateOf(fixed({ from, to })) : {};
}

function Change({ row }: { row: Row }) {
  const estimate = { estimate: numberOf(row.estimate), lower: numberOf(row.lower), upper: numberOf(row.upper), n: numberOf(row.n) };
  const at = String(row.evaluated_at);
  const [alert, slice] = [String(row.alert), String(row.slice ?? "")];
  const filter = (server.value?.configuration?.alerts?.find((each) => each.name === alert)?.filter ?? "").trim();
  return (
    <tr>
      <td>{Number.isNaN(millis(at)) ? "–" : <Time at={at} />}</td>
      <td><StateChip state={String(row.state)} /></td>
      <td><Link href={hrefOf("alerts", "", { alert, slice })}>{line(alert, 60)}</Link></td><td>{slice === "" ? <span class="muted">all traffic</span> : line(slice, 80)}</td>
      <td><Watched href={watchedHref({ metric: String(row.metric ?? ""), filter, slice }, untilThen(at))}><Interval {...estimate} /></Watched></td>
      <td><div class="clip" title={line(String(row.message ?? ""), 600)}>{line(String(row.message ?? ""), 200)}</div></td>
    </tr>
  );
}
