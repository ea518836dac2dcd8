// How polite an answer is, and whether it promises a delivery date: two metrics of one evaluator.

import { fileURLToPath } from "node:url";
import { evaluator } from "groundline-evaluator";

const RUDE = /\b(stupid|idiot|shut up|nonsense)\b/gi;
const PROMISE = /\b(will arrive|be delivered|ships) (on|by|before|tomorrow)\b/i;

export const tone = evaluator(
  {
    name: "tone",
    version: "1",
    inputs: ["answer"],
    metrics: [
      { name: "politeness", threshold: 0.5 },
      { name: "promise", better: "lower" },
    ],
  },
  ({ answer }) => {
    const rude = answer.match(RUDE) ?? [];
    const promise = answer.match(PROMISE);
    return {
      scores: {
        politeness: { value: 1 / (1 + rude.length), rationale: rude.length ? `rude: ${rude.join(", ")}` : undefined },
        promise: { passed: promise === null, rationale: promise?.[0] },
      },
    };
  },
);

// Nothing runs where the command groundline-evaluator, or a test, imports it.
if (process.argv[1] === fileURLToPath(import.meta.url)) await tone.run();
