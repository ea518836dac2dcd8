// Bars over time: how many, and how many of them failed. Dragging chooses a range; the keys [ and ] move it.
import { useMemo, useRef, useState } from "preact/hooks";
import { type Table, columnOf } from "../lib/api";
import { count, millis, numberOf, time } from "../lib/format";
import type { Span } from "../lib/range";
import { zone } from "../lib/store";

interface Bucket {
  at: number;
  all: number;
  errors: number;
}

export function bucketsOf(table: Table, span: Span, step: number): Bucket[] {
  const start = Math.floor(span.from / step) * step;
  const length = Math.min(1000, Math.max(1, Math.ceil((span.to - start) / step)));
  const buckets = Array.from({ length }, (_, at): Bucket => ({ at: start + at * step, all: 0, errors: 0 }));
  const [times, status, counts] = [columnOf(table, "bucket"), columnOf(table, "status_code"), columnOf(table, "n")];
  for (let row = 0; row < table.rows; row++) {
    const bucket = buckets[Math.round((millis(String(times[row])) - start) / step)];
    if (!bucket) continue;
    const n = numberOf(counts[row]) ?? 0;
    bucket.all += n;
    if (status[row] === "error") bucket.errors += n;
  }
  return buckets;
}

/** The range that has data, where it is less than a third of what is shown. */
function fitted(buckets: Bucket[], step: number): Span | undefined {
  const full = buckets.filter((bucket) => bucket.all > 0);
  const [first, last] = [full[0], full[full.length - 1]];
  if (!first || !last || step <= 1000) return undefined;
  const length = last.at + step - first.at;
  return length * 3 < buckets.length * step ? { from: first.at, to: last.at + step } : undefined;
}

interface HistogramProps {
  table: Table;
  span: Span;
  step: number;
  zoom: (span: Span) => void;
}

export function TimeHistogram({ table, zoom, ...asked }: HistogramProps) {
  // Until another range has its answer, the bars keep the axis and the buckets that they came with.
  const { buckets, span, step } = useMemo(() => ({ buckets: bucketsOf(table, asked.span, asked.step), span: asked.span, step: asked.step }), [table]);
  const top = buckets.reduce((most, bucket) => Math.max(most, bucket.all), 0);
  const total = buckets.reduce((sum, bucket) => sum + bucket.all, 0);
  const errors = buckets.reduce((sum, bucket) => sum + bucket.errors, 0);
  const drag = useDrag(buckets, step, zoom);
  const fit = fitted(buckets, step);
  const text = `${count(total)} spans, ${count(errors)} with an error; at most ${count(top)} a bucket`;
  return (
    <>
      <div class="hist" role="img" aria-label={text} ref={drag.box} onPointerDown={drag.down} onPointerMove={drag.move} onPointerUp={drag.up} onPointerCancel={drag.cancel}>
        {buckets.map((bucket) => (
          <div key={bucket.at} title={bucket.all > 0 ? `${time(bucket.at, zone.value)}: ${bucket.all} spans, ${bucket.errors} errors` : ""}>
            {bucket.errors > 0 && <i class="e" style={{ height: `${(bucket.errors / top) * 100}%` }} />}
            {bucket.all > bucket.errors && <i style={{ height: `max(2px, ${((bucket.all - bucket.errors) / top) * 100}%)` }} />}
          </div>
        ))}
        {drag.shown && <span class="sel" style={{ left: `${drag.shown[0] * 100}%`, width: `${(drag.shown[1] - drag.shown[0]) * 100}%` }} />}
      </div>
      <div class="axis">
        <span>{time(span.from, zone.value)}</span>
        <span>{text}{fit && <button type="button" class="quiet" onClick={() => zoom(fit)}>Fit to the data</button>}</span>
        <span>{time(span.to, zone.value)}</span>
      </div>
    </>
  );
}

function useDrag(buckets: Bucket[], step: number, zoom: (span: Span) => void) {
  const box = useRef<HTMLDivElement>(null);
  const start = useRef<number | undefined>(undefined);
  const [shown, setShown] = useState<[number, number] | undefined>();
  const share = (event: PointerEvent) => {
    const area = box.current?.getBoundingClientRect();
    return area ? Math.min(1, Math.max(0, (event.clientX - area.left) / area.width)) : 0;
  };
  const both = (event: PointerEvent): [number, number] => {
    const [a, b] = [start.current ?? 0, share(event)];
    return a < b ? [a, b] : [b, a];
  };
  return {
    box, shown,
    down: (event: PointerEvent) => {
      if (event.button !== 0) return;
      box.current?.setPointerCapture(event.pointerId);
      start.current = share(event);
    },
    // The browser has taken it for something else, such as scrolling.
    cancel: () => {
      start.current = undefined;
      setShown(undefined);
    },
    move: (event: PointerEvent) => start.current !== undefined && setShown(both(event)),
    up: (event: PointerEvent) => {
      const [a, b] = both(event);
      const first = buckets[Math.floor(a * buckets.length)];
      const last = buckets[Math.min(buckets.length - 1, Math.floor(b * buckets.length))];
      const chosen = start.current !== undefined && b - a > 0.005;
      start.current = undefined;
      setShown(undefined);
      if (chosen && first && last) zoom({ from: first.at, to: last.at + step });
    },
  };
}
