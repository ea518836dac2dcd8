// Serves dist/ with the headers of the product and passes everything else on to a running server:
// `node e2e/dev-server.mjs [port]`. GROUNDLINE_URL names the server (http://127.0.0.1:4320).
import { createServer, request as ask } from "node:http";
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

/** The request as it came, with the names that the server knows itself by; what hangs up here hangs up there. */
function pass(upstream, request, response) {
  const { origin, ...headers } = request.headers;
  const sent = ask(new URL(request.url, upstream), { method: request.method, headers: { ...headers, host: new URL(upstream).host, ...(origin ? { origin: upstream } : {}) } }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  sent.on("error", (error) => {
    if (!response.headersSent) response.writeHead(502, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: String(error) }));
  });
  response.on("close", () => sent.destroy());
  request.pipe(sent);
}

function file(request, response) {
  const path = normalize(request.url.split("?")[0]);
  if (path.startsWith("/assets/")) {
    const found = join(dist, path);
    if (!existsSync(found)) return response.writeHead(404).end();
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

export function serve(upstream, port) {
  const server = createServer((request, response) => {
    const path = request.url.split("?")[0];
    if (path.startsWith("/v1/") || path === "/login" || path === "/logout") pass(upstream, request, response);
    else file(request, response);
  });
  return new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve(server)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = await serve(process.env.GROUNDLINE_URL ?? "http://127.0.0.1:4320", Number(process.argv[2] ?? 4321));
  console.log(`http://127.0.0.1:${server.address().port}/`);
}
