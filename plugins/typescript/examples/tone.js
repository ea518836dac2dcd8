// How polite an answer is, and whether it promises a delivery date: two metrics of one evaluator.

import { evaluator } from "../index.js";

const RUDE = /\b(stupid|idiot|shut up|nonsense)\b/gi;
const PROMISE = /\b(will arrive|be delivered|ships) (on|by|before|tomorrow)\b/i;

const tone = evaluator(
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

await tone.run();
