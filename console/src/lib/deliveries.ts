// Who was told of an alert, as GET /v1/alerts tells it.

/** A message about one slice of one alert to one receiver. Times are RFC 3339. */
export interface Delivery {
  alert: string;
  slice: string;
  receiver: string;
  /** What it says: firing, acknowledged or resolved. */
  status: string;
  outcome: string;
  changed_at: string;
  /** When the last attempt was over; null if there was none, or it is not known. */
  attempted_at: string | null;
  /** Attempts that failed. */
  failed: number;
  /** Null if there is none, or it comes as soon as its turn does. */
  next_attempt_at: string | null;
  error: string | null;
}

export interface Outcome {
  sign: string;
  tone: string;
  word: string;
}

const OUTCOMES: Record<string, Outcome> = {
  delivered: { sign: "✓", tone: "good", word: "told" },
  waiting: { sign: "…", tone: "warn", word: "waiting" },
  silenced: { sign: "◐", tone: "warn", word: "kept back by a silence" },
  refused: { sign: "✗", tone: "bad", word: "refused" },
  given_up: { sign: "✗", tone: "bad", word: "given up" },
  unknown: { sign: "?", tone: "", word: "told long ago, or dropped" },
};

/** What came of a message. One that waits and has failed, or is not heard again, is as bad as one that is lost. */
export function outcomeOf({ outcome, failed }: Pick<Delivery, "outcome" | "failed">): Outcome {
  const known = OUTCOMES[outcome] ?? { sign: "·", tone: "", word: outcome };
  return outcome === "waiting" && failed > 0 ? { ...known, sign: "!", tone: "bad" } : known;
}

/** Those about a slice, what nobody took or what waits first. */
export function toldOf(all: readonly Delivery[], alert: string, slice: string): Delivery[] {
  const rank = ({ outcome, error }: Delivery) => (outcome === "refused" || outcome === "given_up" ? 0 : outcome === "waiting" || error !== null ? 1 : 2);
  return all.filter((each) => each.alert === alert && each.slice === slice).sort((a, b) => rank(a) - rank(b));
}

/** How often it was tried in vain, in words. */
export function failedOf({ failed }: Pick<Delivery, "failed">): string {
  return failed === 1 ? "1 attempt failed" : `${failed} attempts failed`;
}
