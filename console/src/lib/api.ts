// The only place that talks to the server. Same origin, the cookie goes along; a fault says what kind it is, so that a
// panel can tell the reader what to do.
import type { Bound } from "./statement";

export interface Column {
  name: string;
  type: string;
}

export interface Table {
  columns: Column[];
  data: unknown[][];
  rows: number;
  elapsed_ms: number;
  /** Rows of spans before this time are all there, RFC 3339; null where nobody knows it of the tables that were read. */
  final_until?: string | null;
  /** When the browser had it, milliseconds since 1970. */
  at: number;
}

export type Kind = "offline" | "login" | "forbidden" | "missing" | "limit" | "busy" | "wrong" | "server";

export class Fault extends Error {
  constructor(readonly kind: Kind, message: string, readonly status = 0, readonly retryAfter = 0) {
    super(message);
  }

  /** The key of the configuration that the sentence names, such as sql.timeout. */
  get key(): string | undefined {
    return /\b((?:sql|server|limits|sample|lake|lab|ingest)\.[a-z_.]+[a-z_])/.exec(this.message)?.[1];
  }
}

const KINDS: Record<number, Kind> = {
  400: "wrong", 401: "login", 403: "forbidden", 404: "missing", 413: "limit", 422: "limit", 429: "busy", 503: "busy",
};

const listeners = new Set<(fault: Fault) => void>();

/** Is told of every fault; the shell shows the login for 401. */
export function onFault(listener: (fault: Fault) => void): void {
  listeners.add(listener);
}

async function send(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: "same-origin", redirect: "error", ...init });
  } catch (error) {
    // Who gave up waiting is told so; who went away is told nothing.
    const reason: unknown = init.signal?.aborted ? init.signal.reason : undefined;
    if (init.signal?.aborted && !(reason instanceof DOMException && reason.name === "TimeoutError")) throw error;
    throw told(new Fault("offline", "The server does not answer. It may be stopped, or the network is away."));
  }
  if (!response.ok) throw told(await faultOf(response));
  return response;
}

function told(fault: Fault): Fault {
  for (const listener of listeners) listener(fault);
  return fault;
}

async function faultOf(response: Response): Promise<Fault> {
  const kind = KINDS[response.status] ?? "server";
  const text = await response.text().catch(() => "");
  let message = text.slice(0, 4000);
  try {
    const body = JSON.parse(text) as { error?: unknown };
    if (typeof body.error === "string") message = body.error;
  } catch {
    // The text stands for itself.
  }
  const after = Number(response.headers.get("retry-after"));
  return new Fault(kind, message || `the server answered ${response.status}`, response.status,
    Number.isFinite(after) ? after : 0);
}

let narrowed = "";

/** From now on answers are of this tenant only; empty for all that the caller may see. */
export function narrowTo(tenant: string): void {
  narrowed = tenant;
}

function bodyOf({ query, params }: Bound): string {
  return JSON.stringify({ query, ...(params.length > 0 ? { params } : {}), ...(narrowed ? { tenant: narrowed } : {}) });
}

export async function ask(bound: Bound, signal?: AbortSignal): Promise<Table> {
  const response = await send("/v1/sql", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json; shape=columns" },
    body: bodyOf(bound),
    signal: signal ?? null,
  });
  const body = (await response.json()) as Omit<Table, "at">;
  if (!Array.isArray(body.columns) || !Array.isArray(body.data)) {
    throw new Fault("server", "the answer of /v1/sql has not the shape of columns: server and console do not fit");
  }
  return { ...body, at: Date.now() };
}

/** The result as a file of another format. */
export async function download(bound: Bound, accept: string): Promise<Blob> {
  const response = await send("/v1/sql", {
    method: "POST",
    headers: { "content-type": "application/json", accept },
    body: bodyOf(bound),
  });
  return response.blob();
}

export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await send(path, { headers: { accept: "application/json" }, signal: signal ?? null });
  return (await response.json()) as T;
}

export async function postJson(path: string, body: unknown, signal?: AbortSignal): Promise<unknown> {
  const response = await send(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: signal ?? null,
  });
  const text = await response.text();
  return text === "" ? null : JSON.parse(text);
}

/** Deletes; the type is what tells the server that no form of another page has sent it. */
export async function remove(path: string): Promise<void> {
  await send(path, { method: "DELETE", headers: { "content-type": "application/json" } });
}

export type Row = Record<string, unknown>;

export function rowsOf(table: Table): Row[] {
  const rows: Row[] = [];
  for (let at = 0; at < table.rows; at++) {
    const row: Row = {};
    table.columns.forEach((column, index) => {
      row[column.name] = table.data[index]?.[at] ?? null;
    });
    rows.push(row);
  }
  return rows;
}

export function columnOf(table: Table, name: string): unknown[] {
  const index = table.columns.findIndex((column) => column.name === name);
  return index < 0 ? [] : (table.data[index] ?? []);
}
