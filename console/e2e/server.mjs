// Servers that a test starts beside the demo: with a configuration of their own, on free ports, in a folder that goes with them.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { consoleOf } from "./demo.mjs";

const FREE = '"127.0.0.1:0"';

/** Starts one; `more` is TOML, by table. When `use` ends, whatever its end, the server and its folder are gone. */
export async function withServer(world, more, use) {
  const folder = mkdtempSync(join(tmpdir(), "groundline-console-"));
  const { server = "", rest = "" } = more(folder);
  writeFileSync(join(folder, "groundline.toml"), `[server]\ndata_dir = "${join(folder, "data")}"\nhttp_listen = ${FREE}\npg_listen = ${FREE}\n${server}\n`
    + `[ingest]\ngrpc_listen = ${FREE}\nhttp_listen = ${FREE}\n${rest}\n`);
  const child = spawn(world.binary, ["serve", "--config", join(folder, "groundline.toml")], { stdio: ["ignore", "pipe", "pipe"] });
  try {
    const at = await ready(child);
    const { base, adapter } = await consoleOf(at.http);
    world.also.push(base);
    try {
      return await use({ base, ...at });
    } finally {
      adapter?.close();
      adapter?.closeAllConnections();
    }
  } finally {
    const ended = child.exitCode === null ? new Promise((resolve) => child.on("exit", resolve)) : undefined;
    child.kill("SIGINT");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Its addresses, once it says that it is ready. */
function ready(child) {
  let text = "";
  const at = (key) => new RegExp(`\\b${key}=(127\\.0\\.0\\.1:\\d+)`).exec(text.replace(/\x1b\[[0-9;]*m/g, ""))?.[1];
  return new Promise((resolve, reject) => {
    const read = (part) => {
      text += part;
      if (text.includes("ready") && at("pg")) resolve({ http: `http://${at("http")}`, otlp: `http://${at("otlp_http")}`, pg: at("pg") });
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}\n${text.slice(-2000)}`)));
  });
}

/** A token of the file, made as people make it. */
export function token(world, file, name, roles, tenant) {
  const args = ["token", "new", "--name", name, ...roles.flatMap((role) => ["--role", role]), ...(tenant ? ["--tenant", tenant] : []), "--append", file];
  return execFileSync(world.binary, args, { encoding: "utf8" }).trim();
}
