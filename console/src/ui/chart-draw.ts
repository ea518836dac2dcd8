// What charts draw beside their lines: bands of intervals, the threshold, marks in time, and what is not final yet.
import type uPlot from "uplot";
import type { Mark } from "../lib/marks";

/** A line across: a threshold, or what an alert allows. */
export interface Line {
  y: number;
  text: string;
  /** What stands on the line itself, where there is little room. */
  short: string;
}

interface Banded {
  lower?: unknown;
  upper?: unknown;
}

export function bands(series: Banded[], colours: string[]): uPlot.Band[] {
  const all: uPlot.Band[] = [];
  let index = 1;
  series.forEach((each, at) => {
    if (each.lower && each.upper) {
      all.push({ series: [index + 1, index + 2], fill: `${colours[at % colours.length]}2e` });
      index += 3;
    } else index += 1;
  });
  return all;
}

interface Whiskered extends Banded {
  values: Array<number | null>;
}

/** Few points: each gets its interval as a line, because a band of one point is nothing. */
export function whiskersPlugin(series: Whiskered[], colours: string[]): uPlot.Plugin {
  const draw = (u: uPlot) => {
    u.ctx.save();
    u.ctx.lineWidth = 2 * devicePixelRatio;
    series.forEach((each, index) => {
      const known = each.values.filter((y) => y !== null).length;
      if (!Array.isArray(each.lower) || !Array.isArray(each.upper) || known > 12) return;
      u.ctx.strokeStyle = colours[index % colours.length] ?? "";
      (u.data[0] ?? []).forEach((x, at) => {
        const [low, high] = [(each.lower as Array<number | null>)[at], (each.upper as Array<number | null>)[at]];
        if (typeof low !== "number" || typeof high !== "number") return;
        const left = u.valToPos(x, "x", true);
        u.ctx.beginPath();
        u.ctx.moveTo(left, u.valToPos(low, "y", true));
        u.ctx.lineTo(left, u.valToPos(high, "y", true));
        u.ctx.stroke();
      });
    });
    u.ctx.restore();
  };
  return { hooks: { draw: [draw] } };
}

type Colour = (name: string) => string;

export function marksPlugin(lines: Line[], marks: Mark[], openFrom: number | undefined, colour: Colour): uPlot.Plugin {
  const draw = (u: uPlot) => {
    const ctx = u.ctx;
    ctx.save();
    ctx.beginPath();
    ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    ctx.clip();
    // uPlot leaves the alignment of its axes behind.
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    if (openFrom !== undefined) hatch(u, openFrom, colour("--hatch"));
    for (const each of lines) line(u, each, colour("--bad"));
    for (const mark of marks) flag(u, mark, colour("--muted"));
    ctx.restore();
  };
  return { hooks: { draw: [draw] } };
}

function line(u: uPlot, { y, short }: Line, stroke: string): void {
  const at = Math.round(u.valToPos(y, "y", true)) + 0.5;
  u.ctx.strokeStyle = stroke;
  u.ctx.lineWidth = devicePixelRatio;
  u.ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
  u.ctx.beginPath();
  u.ctx.moveTo(u.bbox.left, at);
  u.ctx.lineTo(u.bbox.left + u.bbox.width, at);
  u.ctx.stroke();
  u.ctx.setLineDash([]);
  u.ctx.fillStyle = stroke;
  u.ctx.font = `${10 * devicePixelRatio}px system-ui, sans-serif`;
  // Above the line, or below it where there is no room.
  const low = at - u.bbox.top < 14 * devicePixelRatio;
  u.ctx.fillText(short, u.bbox.left + u.bbox.width - u.ctx.measureText(short).width - 4, low ? at + 11 * devicePixelRatio : at - 3 * devicePixelRatio);
}

function flag(u: uPlot, mark: Mark, stroke: string): void {
  const at = Math.round(u.valToPos(mark.at, "x", true)) + 0.5;
  if (at < u.bbox.left || at > u.bbox.left + u.bbox.width) return;
  u.ctx.strokeStyle = stroke;
  u.ctx.fillStyle = stroke;
  u.ctx.lineWidth = devicePixelRatio;
  u.ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
  u.ctx.beginPath();
  u.ctx.moveTo(at, u.bbox.top);
  u.ctx.lineTo(at, u.bbox.top + u.bbox.height);
  u.ctx.stroke();
  u.ctx.setLineDash([]);
  u.ctx.font = `${10 * devicePixelRatio}px system-ui, sans-serif`;
  const room = u.bbox.left + u.bbox.width - at;
  const text = mark.text.slice(0, 28);
  const left = u.ctx.measureText(text).width + 8 > room ? at - u.ctx.measureText(text).width - 4 : at + 4;
  u.ctx.fillText(text, left, u.bbox.top + 10 * devicePixelRatio);
}

function hatch(u: uPlot, from: number, stroke: string): void {
  const left = Math.max(u.bbox.left, u.valToPos(from, "x", true));
  const right = u.bbox.left + u.bbox.width;
  u.ctx.strokeStyle = stroke;
  u.ctx.lineWidth = devicePixelRatio;
  u.ctx.beginPath();
  for (let x = left - u.bbox.height; x < right; x += 8 * devicePixelRatio) {
    const start = Math.max(x, left);
    u.ctx.moveTo(start, u.bbox.top + u.bbox.height - (start - x));
    u.ctx.lineTo(x + u.bbox.height, u.bbox.top);
  }
  u.ctx.stroke();
}
