// Serves dist/ with the headers of the product and passes /v1 on to a running server: `node e2e/dev-server.mjs [port]`.
// GROUNDLINE_URL names the server (http://127.0.0.1:4320). A server without column-shaped JSON and parameters is adapted
// to, so that the console can be worked on beside it; what it does not answer at all (/v1/me, /v1/status) is said to be
// missing, or comes from the file that GROUNDLINE_STUBS names ({"/v1/status": …}).
import { createServer } from "node:http";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const dist = join(dirname(fileURLToPath(import.meta.url)), "..", "dist");
const TYPES = { ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html; charset=utf-8" };

function policy(nonce) {
  return [
    "default-src 'none'", "script-src 'self'", `style-src 'self' 'nonce-${nonce}'`, "img-src 'self' data:", "font-src 'self'",
    "connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");
}

function literal(value) {
  if (value === null) return "NULL";
  return typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value).toUpperCase();
}

/** Puts the values in place of $1, $2 … outside of quotes. */
export function inlined(query, params) {
  return query.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|\$([0-9]+)/g, (all, at) => (at ? literal(params[at - 1]) : all));
}

function typeOf(values) {
  const value = values.find((each) => each !== null && each !== undefined);
  if (typeof value === "number") return values.every((each) => each === null || Number.isInteger(each)) ? "bigint" : "double";
  if (typeof value === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+Z?$/.test(value)) return "timestamp us utc";
  return typeof value === "boolean" ? "boolean" : typeof value === "object" ? "struct" : "text";
}

export function columnShaped(rows, elapsed) {
  const names = rows.length > 0 ? Object.keys(rows[0]) : [];
  const data = names.map((name) => rows.map((row) => row[name] ?? null));
  const columns = names.map((name, at) => ({ name, type: typeOf(data[at]) }));
  return { columns, data, rows: rows.length, elapsed_ms: elapsed };
}

async function body(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

function reply(response, status, type, bytes) {
  response.writeHead(status, { "content-type": type, "cache-control": "private, no-store" });
  response.end(bytes);
}

async function sql(upstream, request, response) {
  const { query, params = [] } = JSON.parse(await body(request));
  const accept = request.headers.accept ?? "";
  const shaped = accept.includes("shape=columns");
  const abort = new AbortController();
  response.on("close", () => abort.abort());
  const started = performance.now();
  const answer = await fetch(`${upstream}/v1/sql`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: shaped ? "application/json" : accept },
    body: JSON.stringify({ sql: inlined(query, params) }),
    signal: abort.signal,
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const elapsed = Math.round(performance.now() - started);
  if (!answer.ok || !shaped) return reply(response, answer.status, answer.headers.get("content-type") ?? "text/plain", bytes);
  return reply(response, 200, "application/json", JSON.stringify(columnShaped(JSON.parse(bytes), elapsed)));
}

async function pass(upstream, stubs, request, response) {
  const path = request.url.split("?")[0];
  if (path in stubs) return reply(response, 200, "application/json", JSON.stringify(stubs[path]));
  const sent = ["POST", "PATCH"].includes(request.method) ? await body(request) : undefined;
  const headers = { "content-type": request.headers["content-type"] ?? "application/json", accept: request.headers.accept ?? "*/*" };
  const answer = await fetch(upstream + request.url, { method: request.method, headers, ...(sent ? { body: sent } : {}) });
  return reply(response, answer.status, answer.headers.get("content-type") ?? "text/plain", Buffer.from(await answer.arrayBuffer()));
}

function file(request, response) {
  const path = normalize(request.url.split("?")[0]);
  if (path.startsWith("/assets/")) {
    const found = join(dist, path);
    if (!existsSync(found)) return reply(response, 404, "text/plain", "not here");
    response.writeHead(200, { "content-type": TYPES[extname(found)] ?? "application/octet-stream", "cache-control": "immutable, max-age=31536000" });
    return response.end(readFileSync(found));
  }
  const nonce = randomBytes(16).toString("base64");
  response.writeHead(200, {
    "content-type": TYPES[".html"], "cache-control": "no-store", "content-security-policy": policy(nonce),
    "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cross-origin-opener-policy": "same-origin",
  });
  return response.end(readFileSync(join(dist, "index.html"), "utf8").replaceAll("__NONCE__", nonce));
}

/** `adapts`: statements are written out for a server without parameters and column-shaped answers. */
export function serve(upstream, port, stubs = {}, adapts = true) {
  const server = createServer(async (request, response) => {
    try {
      const path = request.url.split("?")[0];
      if (adapts && path === "/v1/sql") await sql(upstream, request, response);
      else if (path.startsWith("/v1/") || path === "/login" || path === "/logout") await pass(upstream, stubs, request, response);
      else file(request, response);
    } catch (error) {
      if (!response.headersSent) reply(response, 502, "application/json", JSON.stringify({ error: String(error) }));
    }
  });
  return new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve(server)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const stubs = process.env.GROUNDLINE_STUBS ? JSON.parse(readFileSync(process.env.GROUNDLINE_STUBS, "utf8")) : {};
  const server = await serve(process.env.GROUNDLINE_URL ?? "http://127.0.0.1:4320", Number(process.argv[2] ?? 4321), stubs);
  console.log(`http://127.0.0.1:${server.address().port}/`);
}
