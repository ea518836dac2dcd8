// A metric by slice: the rows of one dimension of C12s, and the condition that is a slice.
import type { Row } from "./api";
import { condition } from "./filter";

/** What a metric is parted by, as C12s names it and as people read it. */
export const DIMENSIONS = { service_name: "Service", request_model: "Model", evaluator_version: "Evaluator version" } as const;

export type Dimension = keyof typeof DIMENSIONS;

/** How many slices of a dimension C12s answers at most. */
export const MOST_SLICES = 20;

/** The dimension that an address names; without one it is the service. */
export function dimensionOf(name: string | undefined): Dimension {
  return name !== undefined && Object.hasOwn(DIMENSIONS, name) ? (name as Dimension) : "service_name";
}

export interface Slice {
  /** Null where the items have no such value. */
  name: string | null;
  /** An expression over scores that takes the items of this slice. */
  condition: string;
  row: Row;
}

/** The slices of one dimension, the worst upper bound first, as the statement has them. */
export function slicesOf(rows: readonly Row[], dimension: Dimension): Slice[] {
  return rows.filter((row) => row.part === dimension).map((row) => {
    const name = row[dimension] === null ? null : String(row[dimension]);
    return { name, condition: condition(dimension, name, true), row };
  });
}
