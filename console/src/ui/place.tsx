// The line of a query that the server could not read, with the place underlined.
import { around, placeOf } from "../lib/place";
import { visible } from "../lib/text";

export function Place({ query, message }: { query: string; message: string }) {
  const place = placeOf(query, message);
  if (!place) return null;
  const [before, wrong, after] = around(query, place);
  return <pre class="code">{visible(before)}<mark class="claim">{visible(wrong)}</mark>{visible(after)}</pre>;
}
