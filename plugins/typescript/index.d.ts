/** The version of the protocol that this package speaks. */
export const PROTOCOL: 1;

/** One retrieved chunk; what the sender did not say is null. */
export interface Context {
  id: string | null;
  uri: string | null;
  text: string | null;
  rank: number | null;
  score: number | null;
  tenant: string | null;
  metadata: unknown;
}

/** A constraint of the answer: a text that it has, `REGEXP:` and an expression, or a list of which one must hold. */
export type Constraint = string | Constraint[];

/** One call of a tool; what was not recorded is null. */
export interface Step {
  tool: string;
  arguments: string | null;
  result: string | null;
  failed: boolean;
}

/** What a function may ask for. */
export interface Inputs {
  question: string;
  answer: string;
  contexts: Context[];
  expected: string;
  /** All right answers, where one of several is enough; `expected` is the first. */
  expected_answers: string[];
  expected_documents: string[];
  constraints: Constraint[];
  system_prompt: string;
  history: string[];
  tenant: string;
  steps: Step[];
}

/** The name of an input; a `?` behind it says that it may be missing. */
export type InputName = keyof Inputs | `${keyof Inputs}?`;

/** What the function gets: inputs named without a `?` are there, the others may be. */
export type Given<N extends InputName> = { [K in Extract<N, keyof Inputs>]: Inputs[K] } & {
  [K in Exclude<N, keyof Inputs> as K extends `${infer Plain}?` ? Plain : never]?: K extends `${infer Plain}?`
    ? Plain extends keyof Inputs
      ? Inputs[Plain]
      : never
    : never;
};

/**
 * A metric that the evaluator reports. With a threshold a value passes on its good side: at it or above where higher is
 * better, below it where lower is. Without one `passed` of the score is the verdict, or there is none.
 */
export interface Metric {
  name: string;
  better?: "higher" | "lower";
  threshold?: number;
}

/** What is said of one metric: a value, a verdict, or why there is none. */
export interface Score {
  value?: number;
  passed?: boolean;
  label?: string;
  rationale?: string;
  /** Why there is nothing to judge, such as the name of what is missing. */
  skipped?: string;
  error?: string;
}

/** A number, a verdict or a score; with several metrics, these by metric. */
export type Result = number | boolean | Score | { scores: Record<string, number | boolean | Score> };

export interface Options<N extends InputName> {
  name: string;
  /** Changes whenever the same input may give another value. */
  version: string;
  inputs: readonly N[];
  /** Without it there is one, called as the evaluator, without a threshold. */
  metrics?: readonly Metric[];
}

/** What `evaluator` makes. */
export class Evaluator {
  private constructor();
  readonly name: string;
  readonly version: string;
  /** The description, as it is sent. */
  describe(): Record<string, unknown>;
  /** The answer to one item, as it is sent. A function that fails gives an error, and never a score. */
  score(item: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Answers until the end: over standard input and output, or with `--http [HOST:]PORT` over HTTP, or with `--grpc [HOST:]PORT` over gRPC. */
  run(args?: string[]): Promise<void>;
}

/** Makes an evaluator of a function. */
export function evaluator<const N extends InputName>(
  options: Options<N>,
  judge: (inputs: Given<N>) => Result | Promise<Result>,
): Evaluator;
