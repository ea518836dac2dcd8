// Answers on their way to the server: each is kept in the tab until the server has it, through a lost connection and a reload.
// What the server will never take is kept beside them, for its reader to copy, and is not sent again.
import { Fault } from "./api";
import type { Sent, Told } from "./review";

export interface Kept {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

/** An answer that the server will never take, and what it said of it. */
export interface Refusal<S> {
  sent: S;
  why: string;
}

export interface Flushed<S, T> {
  told: { sent: S; told: T }[];
  refused: Refusal<S>[];
  /** Why the rest could not be sent. */
  fault?: Fault;
}

/** Most refused answers that are kept; the oldest go first. */
const MOST_REFUSED = 50;

/** The outboxes of this tab: two of one name would write over what the other keeps, and send its answers again. */
const outboxes = new WeakMap<Kept, Map<string, unknown>>();

export class Outbox<S extends { item: string; kind?: string } = Sent, T = Told> {
  private list: S[];
  private gone: Refusal<S>[];
  private busy = false;
  private running: Promise<Flushed<S, T>> = Promise.resolve({ told: [], refused: [] });
  /** Whether the server may have the first one: it is on its way, or its answer did not come, perhaps in an earlier visit. */
  private isTried: boolean;

  /** The outbox of that name in this tab, for everybody who asks for it: whoever asks first says how it sends. */
  static of<S extends { item: string; kind?: string }, T>(kept: Kept, key: string, post: (sent: S) => Promise<unknown>): Outbox<S, T> {
    const all = outboxes.get(kept) ?? new Map<string, unknown>();
    outboxes.set(kept, all);
    const found = (all.get(key) as Outbox<S, T> | undefined) ?? new Outbox<S, T>(kept, key, post);
    all.set(key, found);
    return found;
  }

  private constructor(private readonly kept: Kept, private readonly key: string, private readonly post: (sent: S) => Promise<unknown>) {
    this.list = this.read(key);
    this.gone = this.read(this.refusedKey);
    this.isTried = this.list.length > 0;
  }

  private get refusedKey(): string {
    return `${this.key} refused`;
  }

  /** What the server refused for good, the oldest first. */
  get refused(): readonly Refusal<S>[] {
    return this.gone;
  }

  /** The reader has it, or does not want it. */
  discard(refusal: Refusal<S>): void {
    this.gone = this.gone.filter((other) => other !== refusal);
    this.write();
  }

  get waiting(): readonly S[] {
    return this.list;
  }

  add(sent: S): void {
    this.list = [...this.list, sent];
    this.write();
  }

  /** Takes back an answer that was not sent yet; false if it is gone, or may be. */
  takeBack(item: string): boolean {
    const at = this.list.map((sent) => sent.item).lastIndexOf(item);
    if (at < 0 || (at === 0 && this.isTried)) return false;
    this.list = this.list.filter((_, place) => place !== at);
    this.write();
    return true;
  }

  /** Sends what waits, in its order. Stops where the server cannot be reached; who asks meanwhile is told by the same flush. */
  flush(): Promise<Flushed<S, T>> {
    if (!this.busy) {
      this.busy = true;
      this.running = this.sendAll();
    }
    return this.running;
  }

  private async sendAll(): Promise<Flushed<S, T>> {
    const done: Flushed<S, T> = { told: [], refused: [] };
    try {
      for (let next = this.list[0]; next !== undefined; next = this.list[0]) {
        const sent = next;
        this.isTried = true;
        try {
          const answer = (await this.post(sent)) as { items?: T[] } | null;
          done.told.push(...(answer?.items ?? []).map((told) => ({ sent, told })));
        } catch (error) {
          const fault = error instanceof Fault ? error : new Fault("server", String(error));
          if (!isLasting(fault)) return { ...done, fault };
          done.refused.push(this.refuse({ sent, why: fault.message }));
        }
        this.list = this.list.slice(1);
        this.isTried = false;
        this.write();
      }
    } finally {
      this.busy = false;
    }
    return done;
  }

  private refuse(refusal: Refusal<S>): Refusal<S> {
    // There is nothing to copy of what takes an answer back.
    if (refusal.sent.kind !== "undo") this.gone = [...this.gone, refusal].slice(-MOST_REFUSED);
    return refusal;
  }

  private read<V>(key: string): V[] {
    try {
      const list: unknown = JSON.parse(this.kept.getItem(key) ?? "[]");
      return Array.isArray(list) ? (list as V[]) : [];
    } catch {
      return [];
    }
  }

  private write(): void {
    try {
      this.kept.setItem(this.refusedKey, JSON.stringify(this.gone));
      this.kept.setItem(this.key, JSON.stringify(this.list));
    } catch {
      // Storage is full or refused: the answers stay in memory.
    }
  }
}

/** Statuses of requests that the server may take another time: after a login, more slowly, or because they were too slow. */
const PASSING = [401, 408, 425, 429];

/** Whether the same answer will be refused again: wrong, not allowed, not there, answered before, or too large. */
function isLasting({ status }: Fault): boolean {
  return status >= 400 && status < 500 && !PASSING.includes(status);
}
