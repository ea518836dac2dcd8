// The columns of all tables, asked once.
import { type Table, ask, rowsOf } from "./api";
import C19 from "../../sql/C19.sql";
import { bind } from "./statement";
import type { Documented } from "../editor/editor";

let asked: Promise<Documented[]> | undefined;

export function columns(): Promise<Documented[]> {
  asked ??= ask(bind(C19, {})).then((table: Table) => rowsOf(table) as unknown as Documented[]);
  // A fault is not kept: the next who asks tries again.
  asked.catch(() => (asked = undefined));
  return asked;
}

