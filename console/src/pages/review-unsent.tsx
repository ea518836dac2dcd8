// Answers that the server does not have: those on their way, and those that it will never take.
import type { Answered, Reviewing } from "../lib/reviewing";
import { visible } from "../lib/text";
import { CopyButton } from "../ui/parts";

type Sending = Pick<Reviewing<unknown, unknown, unknown, unknown>, "unsent" | "refused" | "discard" | "retry">;

export function Unsent({ work: { unsent, refused, discard, retry } }: { work: Sending }) {
  return (
    <>
      {unsent > 0 && <p role="status" class="unsent">{unsent === 1 ? "1 answer is" : `${unsent} answers are`} not sent yet; they are kept in this tab. <button type="button" onClick={retry}>Send now</button></p>}
      {refused.length > 0 && (
        <ul role="status" class="unsent" aria-label="Refused answers">{refused.map((one) => (
          <li key={idOf(one.sent)}>
            {one.sent.kind === "skip" ? "A skip" : "An answer"} was refused and is not sent again: {visible(one.why)}{" "}
            <CopyButton text={JSON.stringify(one.sent, null, 2)} what="Answer" />
            <button type="button" class="quiet" onClick={() => discard(one)}>Discard</button>
          </li>
        ))}</ul>
      )}
    </>
  );
}

function idOf(sent: Answered & { annotation_id?: string; answer_id?: string }): string {
  return sent.annotation_id ?? sent.answer_id ?? sent.item;
}
