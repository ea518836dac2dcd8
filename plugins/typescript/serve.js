// The ways to be asked: JSON lines over pipes, JSON over HTTP, and gRPC.

import { createHash, timingSafeEqual } from "node:crypto";
import { writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

/** Longest body of a request, bytes. */
const MAX_BODY = 256 << 20;

/** Reads the command line and answers until the end. */
export async function main(evaluator, protocol, args) {
  const options = { http: { type: "string" }, grpc: { type: "string" }, "token-file": { type: "string" } };
  const { values } = parseArgs({ args, options });
  const address = values.http ?? values.grpc;
  if (address === undefined) return serveProcess(evaluator);
  if (values.http !== undefined && values.grpc !== undefined) throw new Error("--http or --grpc, and not both");
  const at = address.lastIndexOf(":");
  const [host, port] = [address.slice(0, Math.max(at, 0)) || "127.0.0.1", address.slice(at + 1)];
  if (!/^\d+$/.test(port)) throw new Error(`${JSON.stringify(address)} is no [HOST:]PORT`);
  const token = values["token-file"] ? (await readFile(values["token-file"], "utf8")).trim() : null;
  if (values.http === undefined) {
    const { grpcServer } = await import("./grpc.js");
    const { port: bound } = await grpcServer(evaluator, protocol, `${host}:${port}`, MAX_BODY, token);
    console.error(`listening on grpc://${host}:${bound}`);
    return;
  }
  const server = httpServer(evaluator, protocol, token);
  await new Promise((listening, failed) => {
    server.once("error", failed);
    server.listen(Number(port), host, listening);
  });
  console.error(`listening on http://${host}:${server.address().port}`);
  await new Promise((closed) => server.once("close", closed));
}

/**
 * Answers lines of standard input on standard output until the input ends. What the function prints goes to standard error:
 * standard output is for answers.
 */
async function serveProcess(evaluator) {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  const answers = {
    async write(text) {
      if (!write(text)) await new Promise((drained) => process.stdout.once("drain", drained));
    },
  };
  await serveLines(evaluator, process.stdin, answers);
}

/** Answers each line of `questions`, in order. */
export async function serveLines(evaluator, questions, answers) {
  for await (const line of createInterface({ input: questions, crlfDelay: Infinity })) {
    if (!line.trim()) continue;
    let item;
    try {
      item = JSON.parse(line);
      if (item === null || typeof item !== "object" || Array.isArray(item)) throw new Error("a line is one JSON object");
    } catch (error) {
      writeSync(2, `a line is left out: ${error.message}\n`);
      continue;
    }
    const answer = item.type === "describe" ? evaluator.describe() : await evaluator.score(item);
    await answers.write(`${JSON.stringify(answer)}\n`);
  }
}

/** A server that answers `GET …/describe` and `POST …/score`. */
export function httpServer(evaluator, protocol, token = null) {
  return createServer(async (request, response) => {
    const answer = (status, body) => {
      const data = Buffer.from(JSON.stringify(body));
      const headers = { "content-type": "application/json", "content-length": data.length };
      // A body that was not read ends the connection.
      response.writeHead(status, request.complete ? headers : { ...headers, connection: "close" }).end(data);
    };
    try {
      const last = new URL(request.url, "http://host").pathname.replace(/\/$/, "").split("/").pop();
      if (!isAllowed(request, token)) return answer(401, { error: "the bearer token is missing or wrong" });
      if (request.method === "GET" && last === "describe") return answer(200, evaluator.describe());
      if (request.method !== "POST" || last !== "score") {
        return answer(404, { error: "there are GET /describe and POST /score" });
      }
      const text = await body(request);
      if (text === null) return answer(413, { error: `the request is longer than ${MAX_BODY} bytes` });
      let items;
      try {
        const asked = JSON.parse(text);
        if (asked.protocol !== protocol) {
          return answer(400, { error: `protocol ${asked.protocol}: version ${protocol} is spoken` });
        }
        items = asked.items;
        if (!items.every((item) => item !== null && typeof item === "object")) throw new Error("an item is an object");
      } catch (error) {
        return answer(400, { error: `the request is not as agreed: ${error.message}` });
      }
      const answers = [];
      for (const item of items) answers.push(await evaluator.score(item));
      return answer(200, { version: evaluator.version, answers });
    } catch (error) {
      console.error(error);
      return answer(500, { error: String(error) });
    }
  });
}

async function body(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > MAX_BODY) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function isAllowed(request, token) {
  if (token === null) return true;
  return timingSafeEqual(hashed(request.headers.authorization ?? ""), hashed(`Bearer ${token}`));
}

/** Texts of any length as bytes of one length: only those are compared without telling how far they agree. */
export function hashed(text) {
  return createHash("sha256").update(text).digest();
}
