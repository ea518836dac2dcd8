// A file on its way into a dataset: first looked at, then taken.
import { count } from "./format";
import { labPath } from "./lab";

export interface FileFault {
  line?: number;
  item?: number;
  column?: string;
  message: string;
}

export interface Outcome {
  version: number;
  items: number;
  put: number;
  deleted: number;
  unchanged: number;
  duplicates: number;
  archived: number;
  faults: FileFault[];
}

export interface Options {
  /** `input=question,history;expected=answer`; empty where the columns have the usual names. */
  map: string;
  /** Whether what the file does not have is taken out. */
  replaces: boolean;
  keepsDuplicates: boolean;
}

/** Good items are counted even where others have faults; nothing is stored while `tries`. */
export function importPath(dataset: string, file: string, options: Options, tries: boolean, partial: boolean, tenant = ""): string {
  const params: Record<string, string> = { file, create: "true" };
  if (options.map.trim() !== "") params.map = options.map.trim();
  if (options.replaces) params.replace = "true";
  if (options.keepsDuplicates) params.keep_duplicates = "true";
  if (tries) params.dry_run = "true";
  if (partial) params.partial = "true";
  return labPath(`datasets/${encodeURIComponent(dataset)}/import`, params, tenant);
}

/** Bytes of the file that become text at once: a call has no place for more. */
const PIECE = 0x8000;

/** The file as JSON: its text, or the bytes of an archive and of Parquet as base64. */
export async function bodyOf(file: Blob, name: string): Promise<{ file_text: string } | { file_base64: string }> {
  if (!/\.(zip|parquet)$/i.test(name)) return { file_text: await file.text() };
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE) text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return { file_base64: btoa(text) };
}

/** A name for the dataset, of the file's. */
export function stemOf(file: string): string {
  return file.replace(/^.*[\\/]/, "").replace(/\.[a-z0-9]+$/i, "") || "dataset";
}

/** `3 to be put, 2 as they are, 1 twice in the file`. */
export function outcomeText({ put, deleted, unchanged, duplicates, archived }: Outcome): string {
  const parts: Array<[number, string]> = [[put, "to be put"], [deleted, "to be taken out"], [unchanged, "as they are"], [duplicates, "twice in the file"], [archived, "archived"]];
  const shown = parts.filter(([n], at) => n > 0 || at === 0);
  return shown.map(([n, what]) => `${count(n)} ${what}`).join(", ");
}

/** Where a fault stands: `line 3, input`. */
export function placeOf({ line, item, column }: FileFault): string {
  return [line !== undefined ? `line ${line}` : item !== undefined ? `item ${item}` : "", column ?? ""].filter(Boolean).join(", ") || "the file";
}
