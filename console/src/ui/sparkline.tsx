// A curve in the height of a row, with its interval as a band; a bucket without neighbours is a dot.
import { useMemo } from "preact/hooks";
import { type Point, piecesOf, saysOf } from "../lib/spark";
import type { Span } from "../lib/range";

const [WIDTH, HEIGHT, EDGE] = [72, 22, 2];

export function Sparkline({ points, span, step, name }: { points: readonly Point[] | undefined; span: Span; step: number; name: string }) {
  const pieces = useMemo(() => piecesOf(points ?? [], step), [points, step]);
  if (!points || points.length === 0) return <span class="muted">–</span>;
  const x = ({ at }: Point) => (((at + step / 2 - span.from) / (span.to - span.from)) * WIDTH).toFixed(1);
  const y = (share: number) => (EDGE + (1 - Math.min(1, Math.max(0, share))) * (HEIGHT - 2 * EDGE)).toFixed(1);
  const line = (piece: Point[]) => piece.map((point) => `${x(point)},${y(Number(point.estimate))}`).join(" ");
  const band = (piece: Point[]) => [
    ...piece.map((point) => `${x(point)},${y(point.upper ?? Number(point.estimate))}`),
    ...[...piece].reverse().map((point) => `${x(point)},${y(point.lower ?? Number(point.estimate))}`),
  ].join(" ");
  const says = `${name} over time: ${saysOf(points)}`;
  return (
    <svg class="spark" width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={says}>
      <title>{says}</title>
      {pieces.map((piece) => (piece.length > 1
        ? <g key={piece[0]?.at}><polygon points={band(piece)} /><polyline points={line(piece)} /></g>
        : <g key={piece[0]?.at}>{piece.map((point) => [
            <line key="i" x1={x(point)} x2={x(point)} y1={y(point.lower ?? Number(point.estimate))} y2={y(point.upper ?? Number(point.estimate))} />,
            <circle key="o" cx={x(point)} cy={y(Number(point.estimate))} r="1.6" />,
          ])}</g>))}
    </svg>
  );
}
