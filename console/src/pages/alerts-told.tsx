// Who was told of an alert: what was delivered when, what waits for which attempt and why, and what nobody took.
import { type Delivery, failedOf, outcomeOf } from "../lib/deliveries";
import { visible } from "../lib/text";
import { Hostile, Time } from "../ui/parts";

/** Nothing where nothing fires and nobody is to be told. */
export function Told({ told, fires }: { told: readonly Delivery[]; fires: boolean }) {
  if (told.length === 0 && !fires) return null;
  return (
    <section class="deliveries small" aria-label="Who was told">
      {told.length === 0 ? (
        <p class="muted">Nobody was told: the alert has no <code>receivers</code>.</p>
      ) : (
        <ul>{told.map((each, at) => <One key={`${each.receiver} ${at}`} told={each} />)}</ul>
      )}
    </section>
  );
}

function One({ told }: { told: Delivery }) {
  const { sign, tone, word } = outcomeOf(told);
  return (
    <li class="row">
      <span class={`chip ${tone}`}><span aria-hidden="true">{sign}</span>{visible(word)}</span>
      <span><strong>{visible(told.receiver)}</strong> of <em>{visible(told.status)}</em> at <Time at={told.changed_at} /></span>
      {told.outcome === "delivered" && told.attempted_at && <span>taken at <Time at={told.attempted_at} /></span>}
      {told.failed > 0 && <span>{failedOf(told)}</span>}
      {told.outcome !== "delivered" && told.attempted_at && <span>the last at <Time at={told.attempted_at} /></span>}
      {told.next_attempt_at && <span>next try at <Time at={told.next_attempt_at} /></span>}
      {told.error && <span class="bad"><Hostile text={told.error} most={300} /></span>}
    </li>
  );
}
