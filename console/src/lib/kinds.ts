// The kinds of spans that have a name of their own; everything else is a plain span.
export const KINDS: Readonly<Record<string, string>> = {
  llm: "LLM", tool: "Tool", retrieval: "Retr", agent: "Agent", chain: "Chain", embedding: "Embed", reranker: "Rank",
  guardrail: "Guard", evaluator: "Eval",
};

/** The short word for an operation; "Span" for a plain one. */
export function kindName(operation: unknown): string {
  return Object.hasOwn(KINDS, String(operation)) ? (KINDS[String(operation)] as string) : "Span";
}
