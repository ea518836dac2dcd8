#!/usr/bin/env node
// The command groundline-evaluator: runs the evaluator that a module exports.

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Evaluator } from "./index.js";

const USAGE = "groundline-evaluator FILE.js[:NAME] [--http [HOST:]PORT | --grpc [HOST:]PORT] [--token-file FILE]";

/** The evaluator that the module of `source` exports; of several that called `name`. */
async function found(source) {
  const [, file, name] = /^(.*?\.[cm]?[jt]s)(?::(\w+))?$/.exec(source) ?? [null, source];
  const module = await import(pathToFileURL(resolve(file)));
  const known = Object.entries(module).filter(([, value]) => value instanceof Evaluator);
  const chosen = name === undefined ? known : known.filter(([own]) => own === name);
  if (new Set(chosen.map(([, value]) => value)).size !== 1) {
    const names = known.map(([own]) => own).join(", ");
    throw new Error(
      known.length === 0
        ? `${file} exports no evaluator: export default evaluator(…)`
        : `${file} exports ${names}: name one of them, as in ${file}:${known[0][0]}`,
    );
  }
  return chosen[0][1];
}

const [source, ...rest] = process.argv.slice(2);
if (source === undefined || source.startsWith("-")) {
  console.error(`usage: ${USAGE}`);
  process.exitCode = source === "--help" || source === "-h" ? 0 : 2;
} else {
  try {
    const evaluator = await found(source);
    await evaluator.run(rest);
  } catch (error) {
    console.error(`groundline-evaluator: ${error.message}`);
    process.exitCode = 2;
  }
}
