// Numbers of an alert lead to the items that it watches.
import type { ComponentChildren } from "preact";
import { type Shown, sinceOf, watchedOf } from "../lib/alerts";
import { faultOf } from "../lib/filter";
import { fixed } from "../lib/range";
import { hrefOf } from "../lib/store";
import { Link } from "../ui/parts";

type Watching = Pick<Shown, "metric" | "filter" | "slice">;

/** The items of the slice, worst first. A filter that no address can carry, such as one with a comment, has none: it would lead to items that are not watched. */
export function watchedHref(alert: Watching, times: Record<string, string> = {}): string | undefined {
  const where = watchedOf(alert);
  if (alert.metric === "" || faultOf(where)) return undefined;
  return hrefOf("scores", alert.metric, { ...(where ? { where } : {}), ...times });
}

/** From a quarter of an hour before it began: what led to it was judged before. */
export function sinceOnset({ since }: Pick<Shown, "since">): Record<string, string> | undefined {
  if (sinceOf({ since }) === null) return undefined;
  const { from, to } = fixed({ from: since / 1e6 - 900_000, to: Date.now() });
  return { range: "", from, to };
}

export function Watched({ href, children }: { href: string | undefined; children: ComponentChildren }) {
  return href === undefined ? <>{children}</> : <Link class="plain" href={href}>{children}</Link>;
}
