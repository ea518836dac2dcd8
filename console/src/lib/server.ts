// What the frame asks once about the server: where its other endpoints are, whether they speak TLS, which alerts are defined.
// A token of one tenant is told none of it; then nothing is guessed that could be wrong.
import { signal } from "@preact/signals";
import { getJson } from "./api";

/** An alert as the server's configuration has it. */
export interface Definition {
  name: string;
  metric?: string;
  /** SQL over scores; empty for all. */
  filter?: string;
  /** The share that should pass. */
  objective?: number | null;
  method?: string;
  /** The false-alarm rate. */
  alpha?: number;
  severity?: string;
}

/** The part of `/v1/status` that pages use beside the page System. */
export interface Server {
  endpoints?: Array<{ door?: string; address?: string }>;
  configuration?: {
    alerts?: Definition[];
    server?: { tls?: { cert?: string }; tokens_file?: string };
  };
}

/** Undefined until it is known, and for callers who are told nothing. */
export const server = signal<Server | undefined>(undefined);

export async function askServer(): Promise<void> {
  try {
    server.value = await getJson<Server>("/v1/status");
  } catch {
    // What is not known is not shown; the page System says why.
  }
}

/** The port of an endpoint by its name, such as `PostgreSQL`; undefined where the server does not say. */
export function portOf(known: Server | undefined, door: RegExp): string | undefined {
  const found = known?.endpoints?.find((each) => door.test(each.door ?? ""));
  return /:([0-9]+)$/.exec(found?.address ?? "")?.[1];
}

/** How to reach this server from a shell. */
export interface Reach {
  host: string;
  tls: boolean;
  /** Whether a client must send a token. */
  token: boolean;
}

/** A page by HTTPS that the server itself does not speak comes through a proxy, and the other ports are not behind that. */
export function reachOf(known: Server | undefined, page: { hostname: string; protocol: string }, token: boolean): Reach {
  const told = known?.configuration?.server?.tls?.cert;
  return { host: page.hostname, tls: told === undefined ? page.protocol === "https:" : told !== "", token };
}

export function shellQuoted(text: string): string {
  return `'${text.replace(/'/g, `'\\''`)}'`;
}

/** A line for psql; where the port is not known, psql's own variable decides before the usual one. */
export function psqlLine(shown: string, { host, tls, token }: Reach, port: string | undefined): string {
  const query = shellQuoted(shown.replace(/\s*\n\s*/g, " "));
  const password = token ? 'PGPASSWORD="$GROUNDLINE_TOKEN" ' : "";
  const at = port ?? '"${PGPORT:-5433}"';
  if (!tls) return `${password}psql -h ${host} -p ${at} -c ${query}`;
  return `${password}PGSSLMODE=verify-full PGSSLROOTCERT=ca.pem psql -h ${host} -p ${at} -c ${query}`;
}

/** The first span in three ways: what to install, where to send, and the token where one is needed. */
export function ways({ host, tls, token }: Reach, port: string): ReadonlyArray<readonly [string, string]> {
  const base = `${tls ? "https" : "http"}://${host}:${port}`;
  const settings = [
    "export OTEL_SERVICE_NAME=my-app OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf",
    `export OTEL_EXPORTER_OTLP_ENDPOINT=${base}`,
    ...(token ? ['export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20$GROUNDLINE_TOKEN"'] : []),
    ...(tls ? ["export OTEL_EXPORTER_OTLP_CERTIFICATE=ca.pem   # not for a certificate that the system knows"] : []),
  ].join("\n");
  const headers = `-H 'content-type: application/json'${token ? ' -H "authorization: Bearer $GROUNDLINE_TOKEN"' : ""}${tls ? " --cacert ca.pem" : ""}`;
  return [
    ["Python", `pip install opentelemetry-distro opentelemetry-exporter-otlp openinference-instrumentation-openai\n${settings}\nopentelemetry-instrument python app.py`],
    ["Node", `npm install @opentelemetry/auto-instrumentations-node\n${settings}\nnode --require @opentelemetry/auto-instrumentations-node/register app.js`],
    ["curl", `now=$(date +%s)000000000
curl ${base}/v1/traces ${headers} -d '{"resourceSpans":[{"resource":{"attributes":[
  {"key":"service.name","value":{"stringValue":"my-app"}}]},"scopeSpans":[{"spans":[{"traceId":"'$(openssl rand -hex 16)'",
  "spanId":"'$(openssl rand -hex 8)'","name":"chat","startTimeUnixNano":"'$now'","endTimeUnixNano":"'$now'"}]}]}]}'`],
  ];
}
