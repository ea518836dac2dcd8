// The share that a threshold under trial would pass, while the slider moves and answers come behind it.
import { type Row, type Table, rowsOf } from "./api";

export interface OnTrial {
  /** Where the slider stands. */
  trial: number;
  /** What the server was asked about last. */
  asked: number;
  /** The threshold in force, whose share the page knows. */
  own: number | null;
  whole: Row;
}

interface Answer {
  data: Table | undefined;
  answers: boolean;
}

/** Undefined until the answer for the very place of the slider is there: the share of another threshold would stand beside it. */
export function shareAt({ trial, asked, own, whole }: OnTrial, answer: Answer): Row | undefined {
  if (trial !== asked) return undefined;
  if (asked === own) return whole;
  return answer.answers && answer.data ? rowsOf(answer.data)[0] : undefined;
}
