// How long the disk and the certificate last, in words. What the server does not know is said to be unknown.
import { bytes, numberOf, seconds } from "./format";

/** A sentence for a tile; urgent where somebody should do something soon. */
export interface Lasting {
  text: string;
  urgent: boolean;
}

const DAY = 86_400_000;
/** The least time that the server looks at a disk before it judges, seconds. */
const LEAST = 3600;

type Fields = Record<string, unknown> | null | undefined;

/** The part `disk` of `/v1/status`. */
export function diskLasts(disk: Fields, now: number): Lasting {
  const growth = numberOf(disk?.growth_per_day_bytes);
  if (growth === null) {
    const left = LEAST - (numberOf(disk?.observed_seconds) ?? 0);
    return { text: left > 0 ? `how long it lasts is known in ${Math.ceil(left / 60)} min` : "how long it lasts is not known", urgent: false };
  }
  const full = Date.parse(String(disk?.full_at ?? ""));
  if (growth <= 0) return { text: "is not filling up", urgent: false };
  if (Number.isNaN(full)) return { text: `lasts for years at ${bytes(growth)} a day`, urgent: false };
  return { text: `full in ${seconds(Math.max(0, full - now) / 1000)} at ${bytes(growth)} a day`, urgent: full - now < 3 * DAY };
}

/** The part `tls` of `/v1/status`; none where the server has no certificate. */
export function certificateLasts(tls: Fields, now: number): Lasting | null {
  if (tls === null || tls === undefined) return null;
  const ends = Date.parse(String(tls.certificate_ends ?? ""));
  if (Number.isNaN(ends)) return { text: "its end could not be read", urgent: false };
  if (ends <= now) return { text: `ended ${seconds((now - ends) / 1000)} ago`, urgent: true };
  return { text: `ends in ${seconds((ends - now) / 1000)}`, urgent: ends - now < 14 * DAY };
}
