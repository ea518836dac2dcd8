// The side panel of a row: what the span asked and answered, and the way to its trace.
import type { Row } from "../lib/api";
import { duration, numberOf } from "../lib/format";
import { hrefOf } from "../lib/store";
import { visible } from "../lib/text";
import { Kind } from "../ui/kind";
import { CopyButton, Hostile, Link, Time } from "../ui/parts";
import { SpanScores } from "./span-scores";
import { SpanDetail } from "./span-detail";

export function SidePanel({ row, close }: { row: Row; close: () => void }) {
  const [trace, span] = [String(row.trace_id), String(row.span_id)];
  return (
    <aside class="panel aside" aria-label="Span">
      <header>
        <Kind operation={row.operation} /><h2 class="clip grow">{visible(String(row.name))}</h2>
        <span class="tools">
          <Link class="button" href={hrefOf("trace", trace, { span })}>Open trace</Link>
          <button type="button" class="quiet" onClick={close} title="Key Esc">Close</button>
        </span>
      </header>
      <div class="body stack">
        <dl class="kv">
          <dt>Began</dt><dd><Time at={String(row.start_time)} digits={3} />, {duration(numberOf(row.duration_ns))}</dd>
          <dt>Service</dt><dd><Hostile text={String(row.service_name ?? "–")} /></dd>
          <dt>Trace</dt><dd class="mono">{visible(trace)} <CopyButton text={trace} what="Trace id" label="copy" /></dd>
        </dl>
        <SpanScores trace={trace} span={span} />
        <SpanDetail trace={trace} span={span} />
      </div>
    </aside>
  );
}
