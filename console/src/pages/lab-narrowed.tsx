// Numbers of the lab lead to the runs or items that they count; a list that was narrowed so says it, and leads back.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { address, hrefOf, setState } from "../lib/store";
import { line } from "../lib/text";
import { Link } from "../ui/parts";

export interface Measured {
  evaluator: string;
  metric: string;
}

interface RunsLinkProps {
  experiment: string;
  each: Measured;
  /** Those that failed to be judged, or were skipped; all without it. */
  show?: "errors" | "skipped";
  class?: string;
  children: ComponentChildren;
}

/** Leads to the runs of an experiment that have a score of the metric. */
export function RunsLink({ experiment, each, show, children, class: tone = "plain" }: RunsLinkProps) {
  const { id, state } = address.value;
  const kept = id === "experiments" ? { ...state, item: "" } : {};
  return <Link class={tone} href={hrefOf("lab", "experiments", { ...kept, experiment, metric: each.metric, evaluator: each.evaluator, show: show ?? "" })}>{children}</Link>;
}

/** Leads to the items of a comparison that moved in the metric. */
export function MovedLink({ after, baseline, each, children }: { after: string; baseline: string; each: Measured; children: ComponentChildren }) {
  const { slice = "" } = address.value.state;
  return <Link class="plain" href={hrefOf("lab", "compare", { new: after, baseline, slice, metric: each.metric, evaluator: each.evaluator })}>{children}</Link>;
}

/** The metric that the address names; undefined where it names none. */
export function narrowed(): Measured | undefined {
  const { metric = "", evaluator = "" } = address.value.state;
  return metric === "" ? undefined : { metric, evaluator };
}

/** It comes into view: what leads here stands above it, or on another page. */
export function Only({ to, says }: { to: Measured; says: string }) {
  const own = useRef<HTMLParagraphElement>(null);
  useEffect(() => own.current?.scrollIntoView({ block: "nearest" }), []);
  return (
    <p ref={own} role="status" class="padded-line row narrowed">
      <span>Only {says} <strong>{line(to.metric, 60)}</strong>{to.evaluator !== "" && to.evaluator !== to.metric && <span class="muted"> {line(to.evaluator, 60)}</span>}</span>
      <button type="button" class="quiet" onClick={() => setState({ metric: "", evaluator: "", show: "", item: "" })}>All</button>
    </p>
  );
}
