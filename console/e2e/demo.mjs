// A demo server of our own with real captures, and the console before it.
import { spawn } from "node:child_process";
import { serve } from "./dev-server.mjs";

/** Starts `groundline demo --keep`; answers its addresses once it stays up. */
export async function demo(binary) {
  const child = spawn(binary, ["demo", "--keep"], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  await new Promise((resolve, reject) => {
    child.on("exit", (code) => reject(new Error(`the demo ended with ${code}\n${text.slice(-2000)}`)));
    child.stdout.on("data", (part) => {
      text += part;
      if (text.includes("Staying up")) resolve();
    });
  });
  const otlp = /OTLP\/HTTP ([0-9.:]+)/.exec(text)?.[1];
  const http = /SQL and metrics (http:[0-9./:]+)/.exec(text)?.[1];
  const worst = /The worst answer in it: +(\S+)/.exec(text)?.[1];
  return { child, otlp: `http://${otlp}`, http, worst };
}

/** The range of the demo's captures as an address has it, known once its console is: they happened just before they were sent. */
export let DEMO = "";

/** From an hour before the newest span to a second behind it: what tests send later is outside. Empty where no span is. */
async function captured(base) {
  const [{ newest }] = await sqlOf(base, "SELECT CAST(max(end_time) AS VARCHAR) AS newest FROM spans");
  if (newest === null) return "";
  const end = Date.parse(/Z|[+]/.test(newest) ? newest : `${newest}Z`);
  const at = (ms) => new Date(ms).toISOString();
  return `from=${at(end - 3_600_000)}&to=${at(end + 1000)}`;
}

/**
 * The console's address: the server itself. With GROUNDLINE_DIST=1 it is dist/ of this checkout before the server, so that a
 * bundle is tested without a compiler.
 */
export async function consoleOf(http) {
  DEMO ||= await captured(http.replace(/\/$/, ""));
  if (!process.env.GROUNDLINE_DIST) return { base: http, adapter: undefined };
  const before = await serve(http.replace(/\/$/, ""), 0);
  return { base: `http://127.0.0.1:${before.address().port}`, adapter: before };
}

export async function sqlOf(base, query) {
  const response = await fetch(`${base}/v1/sql`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json; shape=columns" },
    body: JSON.stringify({ query }),
  });
  const table = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(table));
  return Array.from({ length: table.rows }, (_, at) => Object.fromEntries(table.columns.map(({ name }, c) => [name, table.data[c][at]])));
}

const text = (value) => ({ stringValue: value });

/** Sends spans as OTLP/HTTP JSON: [{trace, id, parent, name, start, duration, attributes}]. */
export async function send(otlp, service, spans, token) {
  const base = BigInt(Date.now()) * 1_000_000n;
  const one = (span) => ({
    traceId: span.trace, spanId: span.id, parentSpanId: span.parent ?? "", name: span.name, kind: 1,
    startTimeUnixNano: String(base + BigInt(span.start ?? 0)), endTimeUnixNano: String(base + BigInt((span.start ?? 0) + (span.duration ?? 1000))),
    attributes: Object.entries(span.attributes ?? {}).map(([key, value]) => ({ key, value: text(value) })),
    events: span.events ?? [], status: span.status ?? {},
  });
  const body = { resourceSpans: [{ resource: { attributes: [{ key: "service.name", value: text(service) }] }, scopeSpans: [{ spans: spans.map(one) }] }] };
  const response = await fetch(`${otlp}/v1/traces`, { method: "POST", headers: { "content-type": "application/json", ...(token ? { authorization: `Bearer ${token}` } : {}) }, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
}

/** How often `until` asks; where other work runs beside, all of it takes longer. */
const TRIES = process.env.TIMES === "told" ? 1_800 : 100;

/** Asks until the answer is true; a span is there within two seconds. */
export async function until(what, check) {
  for (let tries = 0; tries < TRIES; tries++) {
    if (await check()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`did not come true: ${what}`);
}

/** Waits until so many are there. */
export async function counted(locator, wanted, what = `${wanted} of ${locator}`) {
  await until(what, async () => (await locator.count()) === wanted);
}
