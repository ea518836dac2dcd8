// What TypeScript says of the package: right use compiles, and each wrong one is an error.

import { evaluator, Evaluator, PROTOCOL, type Context, type Score } from "groundline-evaluator";

const tone: Evaluator = evaluator(
  { name: "tone", version: "1", inputs: ["answer", "contexts?"], metrics: [{ name: "politeness", threshold: 0.5 }] },
  async ({ answer, contexts }) => {
    const first: Context | undefined = contexts?.[0];
    const score: Score = { value: answer.length, label: first?.text ?? undefined };
    return { scores: { politeness: score, length: 1, plain: true } };
  },
);
const running: Promise<void> = tone.run(["--grpc", "127.0.0.1:0"]);
const protocol: 1 = PROTOCOL;
export { protocol, running };

// @ts-expect-error: no such input
evaluator({ name: "a", version: "1", inputs: ["anser"] }, () => 1);
// @ts-expect-error: it may be missing
evaluator({ name: "a", version: "1", inputs: ["answer?"] }, ({ answer }) => answer.length);
// @ts-expect-error: it was not asked for
evaluator({ name: "a", version: "1", inputs: ["answer"] }, ({ question }) => (question ? 1 : 0));
// @ts-expect-error: a version must be there
evaluator({ name: "a", inputs: ["answer"] }, () => 1);
// @ts-expect-error: a text is no score
evaluator({ name: "a", version: "1", inputs: ["answer"] }, () => "good");
// @ts-expect-error: only evaluator() makes one
new Evaluator();
