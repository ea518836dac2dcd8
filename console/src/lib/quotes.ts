// The quotes that somebody is typing in: whose keys or values are wanted there.

/** The quotes that are open before the cursor. */
export interface Place {
  /** The column whose values or keys are wanted. */
  column: string;
  /** What stands in the quotes already. */
  typed: string;
}

const KEY = /\battr\s*\(\s*(attributes|resource_attributes)\s*,\s*'([^']*)$/i;
/** The columns that C11 counts. */
const VALUE = /\b(service_name|operation|request_model|status_code|dialect|name)\s*(?:=|<>|!=|\b(?:NOT\s+)?IN\s*\((?:\s*'[^']*'\s*,)*)\s*'([^']*)$/i;

/** Which quotes the text ends in; undefined where nothing is known to fit. */
export function placeIn(before: string): Place | undefined {
  const found = KEY.exec(before) ?? VALUE.exec(before);
  return found ? { column: (found[1] as string).toLowerCase(), typed: found[2] as string } : undefined;
}
