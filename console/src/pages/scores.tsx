// Page 4: one metric, worst first. Without a metric in the address: all metrics.
import { address } from "../lib/store";
import { MetricPage } from "./scores-metric";
import { MetricList } from "./scores-list";

export default function Scores() {
  const { id, state } = address.value;
  return id === "" ? <MetricList /> : <MetricPage key={`${id} ${state.evaluator ?? ""}`} metric={id} evaluator={state.evaluator ?? ""} />;
}
