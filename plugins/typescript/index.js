// Evaluators of your own for Groundline: describe a function, and run it as a process, over HTTP or over gRPC.

import { main } from "./serve.js";

export const PROTOCOL = 1;

const INPUTS = [
  "question",
  "answer",
  "contexts",
  "expected",
  "expected_answers",
  "expected_documents",
  "constraints",
  "system_prompt",
  "history",
  "tenant",
  "steps",
];

export function evaluator(options, judge) {
  const { name, version, inputs, metrics = [{ name }] } = options;
  if (!name || !version) throw new TypeError("name and version are texts that are not empty");
  if (!inputs?.length) throw new TypeError(`inputs is empty; there are ${INPUTS.join(", ")}`);
  const wanted = inputs.map((text) => ({ input: text.replace(/\?$/, ""), isRequired: !text.endsWith("?") }));
  for (const { input } of wanted) {
    if (!INPUTS.includes(input)) throw new TypeError(`${input} is no input; there are ${INPUTS.join(", ")}`);
  }
  for (const { name, better = "higher" } of metrics) {
    if (better !== "higher" && better !== "lower") throw new TypeError(`metric ${name}: better is "higher" or "lower"`);
  }
  if (!metrics.length || new Set(metrics.map((metric) => metric.name)).size !== metrics.length) {
    throw new TypeError("metrics are one or more, each with a name of its own");
  }

  const describe = () => ({
    type: "description",
    protocol: PROTOCOL,
    name,
    version,
    inputs: [...inputs],
    metrics: metrics.map(({ name, better = "higher", threshold = null }) => ({ name, better, threshold })),
  });

  const score = async (item) => {
    const missing = wanted.find(({ input, isRequired }) => isRequired && item[input] == null);
    if (missing) {
      return { id: item.id, scores: metrics.map(({ name }) => ({ metric: name, skipped: missing.input })) };
    }
    const there = wanted.filter(({ input }) => item[input] != null).map(({ input }) => [input, item[input]]);
    try {
      return { id: item.id, scores: scores(await judge(Object.fromEntries(there)), metrics) };
    } catch (error) {
      // What the user's code throws is told, and the next item is asked.
      console.error(error);
      return { id: item.id, error: String(error) };
    }
  };

  return new Evaluator(name, version, describe, score);
}

export class Evaluator {
  constructor(name, version, describe, score) {
    Object.assign(this, { name, version, describe, score });
  }

  run(args = process.argv.slice(2)) {
    return main(this, PROTOCOL, args);
  }
}

function scores(result, metrics) {
  let byMetric = result?.scores;
  if (byMetric == null) {
    if (metrics.length !== 1) {
      throw new TypeError(`there are ${metrics.length} metrics: return { scores: { metric: score } }`);
    }
    byMetric = { [metrics[0].name]: result };
  }
  return Object.entries(byMetric).map(([metric, score]) => told(metric, score));
}

function told(metric, score) {
  if (typeof score === "boolean") score = { passed: score };
  if (typeof score === "number") score = { value: score };
  if (score === null || typeof score !== "object") {
    throw new TypeError(`metric ${metric}: ${typeof score} is no number, boolean or score`);
  }
  const { value, passed, label, rationale, skipped, error } = score;
  // JSON has no word for it, and null would be no value.
  if (value != null && !Number.isFinite(value)) {
    return { metric, error: `the value is ${value}, which is no finite number` };
  }
  return { metric, value, passed, label, rationale, skipped, error };
}
