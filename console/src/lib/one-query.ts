// One query at a time: a new one ends the one before it, whose end is then nobody's news.
import { Fault, type Table } from "./api";

export interface Running {
  table?: Table;
  fault?: Fault;
  busy?: boolean;
  cancelled?: boolean;
  query: string;
}

export class OneQuery {
  private abort: AbortController | undefined;

  constructor(private readonly ask: (query: string, signal: AbortSignal) => Promise<Table>, private readonly show: (now: Running) => void) {}

  /** Gives the answer; undefined where there is none, or where another query was asked since. */
  async run(query: string): Promise<Table | undefined> {
    this.abort?.abort();
    const mine = new AbortController();
    this.abort = mine;
    this.show({ busy: true, query });
    const told = await this.ask(query, mine.signal).then(
      (table): Running => ({ table, query }),
      (error: unknown): Running => {
        if (mine.signal.aborted) return { cancelled: true, query };
        return { fault: error instanceof Fault ? error : new Fault("server", String(error)), query };
      },
    );
    if (this.abort !== mine) return undefined;
    this.show(told);
    return told.table;
  }

  cancel(): void {
    this.abort?.abort();
  }

  /** What was asked and answered is nobody's any more, such as that of another tenant. */
  forget(): void {
    this.abort?.abort();
    this.abort = undefined;
    this.show({ query: "" });
  }
}
