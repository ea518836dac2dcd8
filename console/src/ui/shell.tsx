// The frame around all pages: navigation, the time range, theme, zone, help, login.
import { type ComponentType, type ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { PageName } from "../lib/address";
import { getJson, narrowTo, onFault, postJson } from "../lib/api";
import { allKeys, useKeys } from "../lib/keys";
import { shifted } from "../lib/range";
import { askServer } from "../lib/server";
import {
  address, copy, fixedLink, goTo, hrefOf, isDark, loginNeeded, me, notice, refresh, setRange, setTheme,
  setZone, span, tenant, theme, zone,
} from "../lib/store";
import { zoneName } from "../lib/format";
import { type Me, isOther } from "../lib/who";
import { visible } from "../lib/text";
import { Boundary } from "./boundary";
import { Icon, Logo } from "./icons";
import { Login } from "./login";
import { Bars, Modal } from "./panel";
import { Link } from "./parts";
import { RangePicker } from "./range-picker";

const PAGES: ReadonlyArray<readonly [PageName, string, string]> = [
  ["quality", "Quality", "q"],
  ["explore", "Explorer", "e"],
  ["scores", "Scores", "s"],
  ["alerts", "Alerts", "a"],
  ["review", "Review", "r"],
  ["lab", "Lab", "l"],
  ["sampling", "Sampling", "p"],
  ["system", "System", "y"],
  ["sql", "SQL", "d"],
];

/** Who may only label sees the page for it, and no other. */
function onlyReviews(): boolean {
  const roles = me.value?.roles ?? [];
  return roles.length > 0 && roles.every((role) => role === "review" || role === "ingest");
}

type Page = ComponentType<Record<string, never>>;
export type Loaders = Record<PageName, () => Promise<{ default: Page }>>;

export function Shell({ loaders }: { loaders: Loaders }) {
  const [help, setHelp] = useState(false);
  useShellKeys(() => setHelp(true));
  useEffect(() => {
    onFault((fault) => fault.kind === "login" && (loginNeeded.value = true));
    void whoAmI();
  }, []);
  if (loginNeeded.value) return <Login done={() => void whoAmI().then(refresh)} />;
  return (
    <>
      <a class="skip" href="#main" onClick={toMain}>To the content</a>
      <Side help={() => setHelp(true)} />
      <div class="main"><Outlet loaders={loaders} /></div>
      <div class="notice" role="status" aria-live="polite">{notice.value}</div>
      {help && <Help close={() => setHelp(false)} />}
    </>
  );
}

function toMain(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("main")?.focus();
}

async function whoAmI(): Promise<void> {
  try {
    const now = await getJson<Me>("/v1/me");
    // The tenant that was chosen, what the server told and what was typed are of somebody else.
    if (isOther(me.value, now)) return location.reload();
    me.value = now;
    loginNeeded.value = false;
    if (onlyReviews() && address.value.page !== "review") goTo(hrefOf("review"), true);
    if (!onlyReviews()) void askServer();
  } catch {
    // Without the answer the console shows no name; a page that needs a token says so itself.
    me.value ??= null;
  }
}

function Side({ help }: { help: () => void }) {
  const here = address.value.page;
  return (
    <aside class="side">
      <Link class="brand" href={hrefOf("quality")} aria-label="Groundline, start"><Logo /><span>Groundline</span></Link>
      <nav aria-label="Pages">
        {PAGES.filter(([page]) => page === "review" || !onlyReviews()).map(([page, name, key]) => (
          <Link key={page} href={hrefOf(page)} title={`g ${key}`} {...(here === page ? { "aria-current": "page" as const } : {})}>
            <Icon name={page} />{name}
          </Link>
        ))}
      </nav>
      <div class="end">
        {me.value && <Who who={me.value} />}
        <div class="row">
          <button type="button" class="quiet" onClick={flipTheme} title="Key d">{isDark() ? "Light" : "Dark"}</button>
          <button type="button" class="quiet" onClick={() => setZone(zone.value === "utc" ? "local" : "utc")}
            title="Times in your zone or in UTC">{zoneName(zone.value)}</button>
          <button type="button" class="quiet" onClick={help} title="Key ?">Keys</button>
        </div>
      </div>
    </aside>
  );
}

function Who({ who }: { who: Me }) {
  const out = () => void postJson("/logout", {}).then(() => location.reload(), () => location.reload());
  const withToken = who.needs_token ?? (who.name !== "" && who.name !== "anonymous");
  return (
    <div class="who">
      {visible(who.name || "no token")}{who.tenant ? `, ${visible(who.tenant)}` : ""}
      {(who.tenants?.length ?? 0) > 1 && <Tenants all={who.tenants ?? []} />}
      {withToken && <> <button type="button" class="quiet" onClick={out}>Log out</button></>}
    </div>
  );
}

/** An admin sees all tenants, or one: the server narrows, the browser filters nothing. */
function Tenants({ all }: { all: string[] }) {
  const pick = (next: string) => {
    tenant.value = next;
    narrowTo(next);
    refresh();
  };
  return (
    <label class="small">Tenant
      <select value={tenant.value} onChange={(event) => pick(event.currentTarget.value)}>
        <option value="">all</option>
        {all.map((name) => <option key={name} value={name}>{visible(name)}</option>)}
      </select>
    </label>
  );
}

function flipTheme(): void {
  setTheme(isDark() ? "light" : "dark");
  theme.value = isDark() ? "dark" : "light";
}

/** The title of a page, with the range and what else stands there. */
export function Top({ title, children, ranged = true }: { title: ComponentChildren; children?: ComponentChildren; ranged?: boolean }) {
  return (
    <header class="top">
      <h1 class="clip">{title}</h1>
      {children}
      {ranged && <RangePicker />}
      {ranged && <button type="button" onClick={refresh} title="Ask again with the present time. Key r">Refresh</button>}
      <button type="button" onClick={() => void copy(location.href, "Link")} title="Key .">Copy link</button>
      {ranged && (
        <button type="button" class="quiet" onClick={() => void copy(fixedLink(), "Link with fixed times")}>fixed</button>
      )}
    </header>
  );
}

function Outlet({ loaders }: { loaders: Loaders }) {
  const name = address.value.page;
  const [loaded, setLoaded] = useState<{ name: PageName; page: Page } | undefined>();
  const [wrong, setWrong] = useState("");
  useEffect(() => {
    let gone = false;
    setWrong("");
    loaders[name]().then(
      (module) => !gone && setLoaded({ name, page: module.default }),
      () => !gone && setWrong("A part of the console could not be loaded. The server may have been replaced: reload the page."),
    );
    return () => {
      gone = true;
    };
  }, [name]);
  if (wrong) return <main id="main"><p role="alert">{wrong}</p></main>;
  if (!loaded || loaded.name !== name) return <main id="main"><Bars /></main>;
  return <Boundary key={name}><loaded.page /></Boundary>;
}

function useShellKeys(help: () => void): void {
  const to = (page: PageName) => () => goTo(hrefOf(page));
  useKeys([
    ...PAGES.map(([page, name, key]) => ({ keys: `g ${key}`, what: `Page ${name}`, run: to(page) })),
    { keys: "/", what: "Filter or search field", run: () => document.querySelector<HTMLElement>("[data-filter]")?.focus() },
    { keys: "[", what: "Time window before", run: () => setRange(shifted(span.value, -1)) },
    { keys: "]", what: "Time window after", run: () => setRange(shifted(span.value, 1)) },
    { keys: "r", what: "Ask again", run: refresh },
    { keys: ".", what: "Copy link", run: () => void copy(location.href, "Link") },
    { keys: "d", what: "Dark or light", run: flipTheme },
    { keys: "?", what: "These keys", run: help },
  ], []);
}

const NAMES: Record<string, string> = { Escape: "Esc", ArrowDown: "↓", ArrowUp: "↑", Enter: "↵" };

function Help({ close }: { close: () => void }) {
  return (
    <Modal title="Keys of this page" close={close}>
      <div class="keys">
        {allKeys().map((key) => (
          <div key={key.keys + key.what}>
            <span>{key.what}</span>
            <span>{key.keys.split(" ").map((part) => <kbd key={part}>{NAMES[part] ?? part}</kbd>)}</span>
          </div>
        ))}
      </div>
    </Modal>
  );
}
