// A table as CSV. A spreadsheet runs a cell that starts as a formula: such texts get a quote in front.
import type { Table } from "./api";

/** Large integers and the like come as text: they are no formulas. */
const NUMBER = /^-(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|Infinity)$/i;

function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  let text = typeof value === "object" ? JSON.stringify(value) : String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text) && !NUMBER.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

export function csv(table: Table): string {
  const lines = [table.columns.map((column) => cell(column.name)).join(",")];
  for (let at = 0; at < table.rows; at++) lines.push(table.data.map((column) => cell(column[at])).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

export function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
