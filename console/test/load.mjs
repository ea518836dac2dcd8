// Loads a TypeScript module of src for a test.
import { build } from "esbuild";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

export async function load(path) {
  const result = await build({
    absWorkingDir: root, entryPoints: [path], bundle: true, format: "esm", write: false, loader: { ".sql": "text" },
    jsx: "automatic", jsxImportSource: "preact",
  });
  return import(`data:text/javascript;base64,${Buffer.from(result.outputFiles[0].contents).toString("base64")}`);
}
