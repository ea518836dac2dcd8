// What a span does, as a word in a colour of its own; never the colour alone.
import { kindName } from "../lib/kinds";

export function kindColour(operation: unknown): string {
  const name = String(operation);
  if (name === "llm") return "var(--k-llm)";
  if (name === "tool" || name === "guardrail") return "var(--k-tool)";
  if (name === "retrieval" || name === "embedding" || name === "reranker") return "var(--k-retrieval)";
  if (name === "agent" || name === "chain") return "var(--k-agent)";
  return "var(--k-other)";
}

export function Kind({ operation }: { operation: unknown }) {
  return <span class="kind" style={{ color: kindColour(operation) }}>{kindName(operation)}</span>;
}
