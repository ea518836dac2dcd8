/** JSON. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** What the server refused. */
export class LabError extends Error {
  /** The status of its answer; 0 if it was not reached. */
  readonly status: number;
  /** What is wrong with what was sent, place by place. */
  readonly faults: { column?: string; message: string }[];
}

/** A run that is asked. */
export interface Run {
  run_id: string;
  item_id: string;
  external_id?: string;
  repetition: number;
  attempt: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  input: any;
  contexts: Json;
  /** Files of the item; each is at `/v1/lab/files/SHA256`. */
  files: { name: string; sha256: string; bytes: number; path?: string; media_type?: string }[];
  parameters: Json;
  /** The header under which your application may send its spans. */
  traceparent: string;
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
}

/** An answer, and what is known about it. */
export interface Answer {
  output?: Json;
  error?: string | null;
  contexts?: (string | { [key: string]: Json })[];
  output_context?: { [key: string]: Json };
  in_tokens?: number;
  out_tokens?: number;
  cost_usd?: number;
  /** Seconds. */
  duration?: number;
  duration_ms?: number;
  finish_reason?: string;
  trace_id?: string;
  span_id?: string;
}

/** What a score is given. */
export interface Judged extends Omit<Run, "signal"> {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  output: any;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  expected: any;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  metadata: any;
  answer: Answer;
}

/** What a score says: a number, a verdict, or one or both with a reason; or why there is none. */
export type Scored =
  | number
  | boolean
  | { value?: number; passed?: boolean; label?: string; rationale?: string; error?: string; skipped?: string };

/** A score of your own. Its name is that of its function: `client/NAME`. */
export type Score = (judged: Judged) => Scored | Promise<Scored>;

/** What is asked, of which items, and who judges it. */
export interface ExperimentOptions {
  /** NAME for the newest version, or NAME@VERSION. */
  dataset?: string;
  /** Items instead of a dataset: objects with `input`, or what is asked alone. */
  data?: Json[];
  /** Ids of the server's evaluators, and functions of yours. */
  evaluators?: (string | Score)[];
  repetitions?: number;
  parameters?: { [key: string]: Json };
  /**
   * What answers, such as `{ model: "…" }`. The commit that is checked out in the working directory is added as `git_commit`, and
   * whether tracked files differ from it as `git_dirty`; one that is given here stays.
   */
  target?: { [key: string]: Json };
  tags?: string[];
  baseline?: boolean;
  /** Whether an unfinished experiment that is the same in all of that goes on, whatever its commit; true if left out. */
  resume?: boolean;
}

/** How the function is called. */
export interface RunOptions {
  /** Calls at once, 1 to 256; 4 if left out. */
  concurrency?: number;
  /** The longest that one call may take, milliseconds; no limit if left out. */
  timeout?: number;
  /** The runs without an answer again, or those that failed a metric, too; at most 1,000. */
  retry?: "errors" | "failed";
  /** No further run is begun when the answers cost so much, US dollars. */
  maxCost?: number;
  /** Stops it; what was answered is stored. */
  signal?: AbortSignal;
  /** Whether standard error tells how far it is; on a terminal if left out. */
  progress?: boolean;
}

/** An estimate with its 95 % interval. */
export interface Estimate {
  estimate: number;
  lower: number | null;
  upper: number | null;
  n: number;
}

/** What the server answered, as it came. As a text it is a table. */
export class Told {
  /** The metric of that name. */
  metric(name: string): { metric: string; passed?: Estimate | null; value?: Estimate | null; [key: string]: unknown };
  toString(): string;
  readonly experiment?: { experiment_id: string; name: string; status: string; [key: string]: unknown };
  readonly summary?: { items: number; runs: number; done: number; errors: number; [key: string]: unknown };
  readonly comparison?: { paired: number; unpaired: number; unchanged: number; [key: string]: unknown };
}

/** A server. */
export class Lab {
  /** The token needs the roles `lab` and `query`; without one GROUNDLINE_TOKEN is taken. `timeout` is that of a request, milliseconds. */
  constructor(options?: { url?: string; token?: string; tenant?: string; timeout?: number });
  /** An experiment over a dataset; one that is unfinished and the same goes on. */
  experiment(name: string, options: ExperimentOptions): Promise<Experiment>;
  /** The experiment of that id, or the newest of that name. */
  open(nameOrId: string, evaluators?: Score[]): Promise<Experiment>;
}

/** An experiment of the server, and the scores of your own. */
export class Experiment {
  readonly lab: Lab;
  readonly experimentId: string;
  /** Calls the function for every run that is missing, stores what it answers with its scores, and gives the summary. */
  run(answer: (run: Run) => Json | Answer | Promise<Json | Answer>, options?: RunOptions): Promise<Told>;
  /** Each metric with its interval; "traffic" weighs items by how likely their traces were drawn. */
  summary(weights?: "items" | "traffic"): Promise<Told>;
  /** The paired difference to a baseline, by name or id; without one to the marked one, else the latest that ended well. */
  compare(baseline?: string): Promise<Told>;
  /** Others of the dataset are compared with this one from now on. */
  markBaseline(): Promise<void>;
  /** It takes no more runs. */
  cancel(): Promise<void>;
}
