// What must hold of the console: `node check.mjs`. dist is what the build makes, bytes stay within their budgets, no other
// host is named, nothing makes HTML of text, files and functions are short.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { files, standing } from "./build.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const wrong = [];
const KB = 1024;

function packed(bytes) {
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length;
}

function sources(folder) {
  return readdirSync(join(here, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

function sameAsBuilt(built, found) {
  for (const [path, bytes] of built) {
    if (!found.has(path)) wrong.push(`dist/${path} is missing: run node build.mjs`);
    else if (!found.get(path).equals(bytes)) wrong.push(`dist/${path} is not what the build makes: run node build.mjs`);
  }
  for (const path of found.keys()) if (!built.has(path)) wrong.push(`dist/${path} is not made by the build: remove it`);
}

/** The files that a page needs before it can show anything: the entry, the page's chunk, and what both import. */
function neededBy(metafile, page) {
  const outputs = metafile.outputs;
  const entry = Object.keys(outputs).find((path) => outputs[path].entryPoint === "src/main.tsx");
  const chunk = Object.keys(outputs).find((path) => outputs[path].entryPoint === page);
  const style = Object.keys(outputs).find((path) => outputs[path].entryPoint === "src/styles/style.css");
  const needed = new Set([style]);
  const visit = (path) => {
    if (path === undefined || needed.has(path)) return;
    needed.add(path);
    for (const each of outputs[path].imports) if (each.kind === "import-statement") visit(each.path);
  };
  visit(entry);
  visit(chunk);
  return [...needed].map((path) => path.replace(/^dist\//, ""));
}

function budget(name, size, most) {
  console.log(`${name.padEnd(34)} ${(size / KB).toFixed(1).padStart(7)} KB brotli, at most ${most} KB`);
  if (size > most * KB) wrong.push(`${name}: ${(size / KB).toFixed(1)} KB brotli, at most ${most} KB`);
}

function budgets(built, metafile) {
  const size = (path) => packed(built.get(path));
  const total = (paths) => paths.reduce((sum, path) => sum + size(path), 0);
  budget("first page: HTML, CSS, JS", total(["index.html", ...neededBy(metafile, "src/pages/quality.tsx")]), 110);
  budget("SQL editor", size([...built.keys()].find((path) => path.startsWith("assets/editor-"))), 115);
  budget("all assets", total([...built.keys()]), 400);
}

/** What each page needs before it shows anything, all of it, as a browser without a cache gets it. */
function byPage(built, metafile) {
  const pages = Object.values(metafile.outputs).map((output) => output.entryPoint ?? "").filter((entry) => entry.startsWith("src/pages/"));
  for (const page of pages.sort()) {
    const paths = ["index.html", ...neededBy(metafile, page)];
    const sum = (size) => (paths.reduce((all, path) => all + size(built.get(path)), 0) / KB).toFixed(1).padStart(6);
    console.log(`  ${page.replace(/^src\/pages\/|\.tsx$/g, "").padEnd(12)} ${sum((bytes) => gzipSync(bytes, { level: 9 }).length)} KB gzip ${sum(packed)} KB brotli`);
  }
}

// Names of namespaces and of licences are no hosts that anything asks.
const NAMESPACES = new Set(["www.w3.org"]);

function hosts(built) {
  for (const [path, bytes] of built) {
    if (path === "THIRD-PARTY.txt") continue;
    for (const [, host] of bytes.toString("utf8").matchAll(/\b(?:https?|wss?):\/\/([a-z0-9][a-z0-9.-]+\.[a-z]{2,})/gi)) {
      if (!NAMESPACES.has(host)) wrong.push(`dist/${path} names the host ${host}`);
    }
  }
}

const FORBIDDEN = /\b(innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|eval\(|new Function)/;

function shape(path) {
  const text = readFileSync(path, "utf8");
  const lines = text.split("\n");
  const name = path.slice(here.length + 1);
  if (lines.length > 401) wrong.push(`${name} has ${lines.length} lines, at most 400`);
  const found = FORBIDDEN.exec(text);
  if (found && name.startsWith("src/")) wrong.push(`${name} uses ${found[1]}: text of spans is hostile`);
  if (!/\.(ts|tsx|mjs)$/.test(name)) return;
  let start = -1;
  lines.forEach((line, at) => {
    if (/^(export )?(default )?(async )?function\b/.test(line)) start = at;
    if (start >= 0 && line === "}") {
      if (at - start + 1 > 50) wrong.push(`${name}:${start + 1} a function of ${at - start + 1} lines, at most 50`);
      start = -1;
    }
  });
}

const { all, metafile } = await files();
sameAsBuilt(all, standing());
budgets(all, metafile);
byPage(all, metafile);
hosts(all);
for (const folder of ["src", "e2e", "test", "sql"]) for (const path of sources(folder)) shape(path);
if (wrong.length > 0) {
  console.error(wrong.join("\n"));
  process.exit(1);
}
console.log("holds");
