// What a span does, as a word in a colour of its own; never the colour alone.
const KNOWN = new Set(["llm", "tool", "retrieval", "agent", "chain", "embedding", "reranker", "guardrail", "evaluator"]);

const SHORT: Record<string, string> = {
  llm: "LLM", tool: "Tool", retrieval: "Retr", agent: "Agent", chain: "Chain", embedding: "Embed", reranker: "Rank",
  guardrail: "Guard", evaluator: "Eval",
};

export function kindColour(operation: unknown): string {
  const name = String(operation);
  if (name === "llm") return "var(--k-llm)";
  if (name === "tool" || name === "guardrail") return "var(--k-tool)";
  if (name === "retrieval" || name === "embedding" || name === "reranker") return "var(--k-retrieval)";
  if (name === "agent" || name === "chain") return "var(--k-agent)";
  return "var(--k-other)";
}

export function Kind({ operation }: { operation: unknown }) {
  const name = KNOWN.has(String(operation)) ? (SHORT[String(operation)] as string) : "Span";
  return <span class="kind" style={{ color: kindColour(operation) }}>{name}</span>;
}
