// How values are written. A number that was estimated never stands alone: it comes with its interval and its n.

const PLAIN = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export type Maybe = number | null | undefined;

export interface Estimate {
  estimate: Maybe;
  lower: Maybe;
  upper: Maybe;
  n: Maybe;
}

/** A number of a column: text (64-bit integers) becomes a number, anything else that is no number null. */
export function numberOf(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "string" && /^-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?$/i.test(value)) return Number(value);
  return null;
}

export function count(value: Maybe): string {
  return value === null || value === undefined ? "–" : PLAIN.format(value);
}

export function compact(value: Maybe): string {
  return value === null || value === undefined ? "–" : COMPACT.format(value);
}

/** Two digits behind the point, more where two would say 0 or 1 for what is neither. */
export function rate(value: Maybe): string {
  if (value === null || value === undefined) return "–";
  const two = value.toFixed(2);
  if (two === "1.00" && value < 1) return value > 0.9995 ? ">0.999" : value.toFixed(3);
  if (two === "0.00" && value > 0) return value < 0.0005 ? "<0.001" : value.toFixed(3);
  return two === "-0.00" ? "0.00" : two;
}

/** `0.91 [0.87, 0.94] n 240`, or `too few (n 7)` where there is no estimate. */
export function interval({ estimate, lower, upper, n }: Estimate): string {
  const shownN = count(n ?? 0);
  if (estimate === null || estimate === undefined) return `too few (n ${shownN})`;
  return `${rate(estimate)} [${lower === null || lower === undefined ? "?" : rate(lower)}, ${
    upper === null || upper === undefined ? "?" : rate(upper)
  }] n ${shownN}`;
}

/** An estimate that is no rate, with its unit: `812 ms [700 ms, 903 ms] n 60`. */
export function within({ estimate, lower, upper, n }: Estimate, shown: (value: number) => string): string {
  if (typeof estimate !== "number") return `too few (n ${count(n ?? 0)})`;
  const end = (bound: Maybe) => (typeof bound === "number" ? shown(bound) : "?");
  return `${shown(estimate)} [${end(lower)}, ${end(upper)}] n ${count(n ?? 0)}`;
}

/** A measured value that is no estimate: four significant digits. */
export function value(number: Maybe): string {
  if (number === null || number === undefined) return "–";
  if (Number.isInteger(number)) return PLAIN.format(number);
  const size = Math.abs(number);
  if (size >= 1e6 || (size > 0 && size < 1e-4)) return number.toExponential(2);
  return size >= 1000 ? PLAIN.format(number) : String(Number(number.toPrecision(4)));
}

export function bytes(size: Maybe): string {
  if (size === null || size === undefined) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let [number, at] = [size, 0];
  while (number >= 1024 && at < units.length - 1) [number, at] = [number / 1024, at + 1];
  return `${at === 0 || number >= 100 ? Math.round(number) : number.toFixed(1)} ${units[at]}`;
}

export function duration(nanoseconds: Maybe): string {
  if (nanoseconds === null || nanoseconds === undefined) return "–";
  if (nanoseconds < 1e3) return `${Math.round(nanoseconds)} ns`;
  if (nanoseconds < 1e6) return `${three(nanoseconds / 1e3)} µs`;
  if (nanoseconds < 1e9) return `${three(nanoseconds / 1e6)} ms`;
  return seconds(nanoseconds / 1e9);
}

export function seconds(total: Maybe): string {
  if (total === null || total === undefined) return "–";
  if (total < 1) return `${three(total * 1e3)} ms`;
  if (total < 60) return `${three(total)} s`;
  // Rounded before it is parted: 119.7 s are 2 minutes, not 1 minute and 60 seconds.
  const parts = (unit: number, many: number): [number, number] => [Math.floor(Math.round(total / unit) / many), Math.round(total / unit) % many];
  if (total < 3600) return words(parts(1, 60), "min", "s");
  if (total < 86_400) return words(parts(60, 60), "h", "min");
  return words(parts(3600, 24), "d", "h");
}

function words([large, small]: [number, number], one: string, other: string): string {
  return `${large} ${one} ${small} ${other}`;
}

function three(number: number): string {
  return String(Number(number.toPrecision(3)));
}

export function cost(usd: Maybe): string {
  if (usd === null || usd === undefined) return "–";
  return usd !== 0 && Math.abs(usd) < 0.01 ? `$${usd.toPrecision(2)}` : `$${usd.toFixed(2)}`;
}

export type Zone = "local" | "utc";

/** `21 Nov 09:28:32`; the year only where it is not this one. */
export function time(at: string | number | null | undefined, zone: Zone, digits = 0): string {
  if (at === null || at === undefined) return "–";
  const date = new Date(typeof at === "string" ? millis(at) : at);
  if (Number.isNaN(date.getTime())) return String(at);
  const options: Intl.DateTimeFormatOptions = {
    day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23",
    timeZone: zone === "utc" ? "UTC" : undefined,
  };
  if (date.getUTCFullYear() !== new Date().getUTCFullYear()) options.year = "numeric";
  if (digits > 0) options.fractionalSecondDigits = digits as 1 | 2 | 3;
  return new Intl.DateTimeFormat("en-GB", options).format(date).replace(",", "");
}

export function zoneName(zone: Zone): string {
  if (zone === "utc") return "UTC";
  const parts = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" }).formatToParts(new Date());
  return parts.find((part) => part.type === "timeZoneName")?.value ?? "local";
}

/** RFC 3339 with nanoseconds, in milliseconds; browsers cut what follows the third digit, as they should here. */
export function millis(text: string): number {
  return Date.parse(/[zZ]|[+-][0-9]{2}:?[0-9]{2}$/.test(text) ? text : `${text}Z`);
}

/** RFC 3339 in nanoseconds, exactly; undefined for what is no time. */
export function nanos(text: string): bigint | undefined {
  const ms = millis(text.replace(/\.[0-9]+/, ""));
  if (Number.isNaN(ms)) return undefined;
  const fraction = /\.([0-9]{1,9})/.exec(text)?.[1] ?? "";
  return BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
}

export function ago(at: number, now: number): string {
  return at > now ? "in the future" : `${seconds(Math.round((now - at) / 1000)).replace(/ms$/, "s")} ago`;
}
