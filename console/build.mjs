// Makes dist/ from src/: `node build.mjs`. The same sources give the same bytes. `--check` compares instead of writing.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "dist");

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20"><rect width="20" height="20" rx="5" fill="#0a5ea8"/>' +
  '<path d="M4 14h12M5.5 11l3-4 3 2.5 3-4.5" fill="none" stroke="#fff" stroke-width="1.7" stroke-linecap="round" ' +
  'stroke-linejoin="round"/></svg>\n';

async function bundle() {
  return build({
    absWorkingDir: here,
    entryPoints: { main: "src/main.tsx", style: "src/styles/style.css" },
    outdir: "dist/assets",
    bundle: true,
    splitting: true,
    format: "esm",
    target: ["es2022"],
    minify: true,
    legalComments: "none",
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    loader: { ".sql": "text" },
    jsx: "automatic",
    jsxImportSource: "preact",
    define: { "process.env.NODE_ENV": '"production"' },
    metafile: true,
    write: false,
    logLevel: "warning",
  });
}

/** The licences of what ended up in the bundle, and of nothing else. */
function thirdParty(metafile) {
  const packages = new Set();
  for (const input of Object.keys(metafile.inputs)) {
    const match = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (match) packages.add(match[1]);
  }
  const parts = ["What others wrote and the console contains, with its licences.\n"];
  for (const name of [...packages].sort()) {
    const folder = join(here, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} has no licence file`);
    parts.push(`\n==== ${name} ${version} (${license}) ====\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`);
  }
  return parts.join("").replaceAll("\r\n", "\n");
}

function page(metafile, icon) {
  const outputs = Object.entries(metafile.outputs);
  const of = (entry) => outputs.find(([, output]) => output.entryPoint === entry);
  const url = (path) => `/${path.replace(/^dist\//, "")}`;
  const [main, output] = of("src/main.tsx");
  const [style] = of("src/styles/style.css");
  const shared = output.imports.filter((each) => each.kind === "import-statement").map((each) => url(each.path)).sort();
  return [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="csp-nonce" content="__NONCE__">',
    '<meta name="color-scheme" content="light dark">',
    "<title>Groundline</title>",
    `<link rel="icon" type="image/svg+xml" href="/${icon}">`,
    `<link rel="stylesheet" href="${url(style)}">`,
    ...shared.map((path) => `<link rel="modulepreload" href="${path}">`),
    `<script type="module" src="${url(main)}"></script>`,
    "</head>",
    '<body><div id="app"></div>',
    "<noscript>The console needs JavaScript. Without it: psql, or POST /v1/sql.</noscript>",
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

/** Every file of dist, by its path there. */
export async function files() {
  const result = await bundle();
  const all = new Map();
  for (const file of result.outputFiles) {
    all.set(file.path.slice(dist.length + 1).replaceAll("\\", "/"), Buffer.from(file.contents));
  }
  const icon = `assets/icon-${createHash("sha256").update(ICON).digest("hex").slice(0, 8).toUpperCase()}.svg`;
  all.set(icon, Buffer.from(ICON));
  all.set("index.html", Buffer.from(page(result.metafile, icon)));
  all.set("THIRD-PARTY.txt", Buffer.from(thirdParty(result.metafile)));
  return { all, metafile: result.metafile };
}

/** What stands in dist now, by its path. */
export function standing() {
  const all = new Map();
  if (!existsSync(dist)) return all;
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath ?? entry.path, entry.name);
    all.set(path.slice(dist.length + 1), readFileSync(path));
  }
  return all;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { all } = await files();
  rmSync(dist, { recursive: true, force: true });
  for (const [path, bytes] of all) {
    mkdirSync(dirname(join(dist, path)), { recursive: true });
    writeFileSync(join(dist, path), bytes);
  }
  console.log(`${all.size} files`);
}
