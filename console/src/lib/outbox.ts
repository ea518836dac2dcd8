// Answers on their way to the server: each is kept in the tab until the server has it, through a lost connection and a reload.
import { Fault } from "./api";
import type { Sent, Told } from "./review";

export interface Kept {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

export interface Flushed<S, T> {
  told: { sent: S; told: T }[];
  /** What the server said of answers that it will never take. */
  refused: { sent: S; why: string }[];
  /** Why the rest could not be sent. */
  fault?: Fault;
}

export class Outbox<S extends { item: string } = Sent, T = Told> {
  private list: S[];
  private busy = false;
  /** Whether the server may have the first one: it is on its way, or its answer did not come, perhaps in an earlier visit. */
  private isTried: boolean;

  constructor(private readonly kept: Kept, private readonly key: string, private readonly post: (sent: S) => Promise<unknown>) {
    this.list = this.read();
    this.isTried = this.list.length > 0;
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

  /** Sends what waits, in its order. Stops where the server cannot be reached; one flush at a time. */
  async flush(): Promise<Flushed<S, T>> {
    const done: Flushed<S, T> = { told: [], refused: [] };
    if (this.busy) return done;
    this.busy = true;
    try {
      for (let next = this.list[0]; next !== undefined; next = this.list[0]) {
        const sent = next;
        this.isTried = true;
        try {
          const answer = (await this.post(sent)) as { items?: T[] } | null;
          done.told.push(...(answer?.items ?? []).map((told) => ({ sent, told })));
        } catch (error) {
          const fault = error instanceof Fault ? error : new Fault("server", String(error));
          if (!isFinal(fault)) return { ...done, fault };
          done.refused.push({ sent, why: fault.message });
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

  private read(): S[] {
    try {
      const list: unknown = JSON.parse(this.kept.getItem(this.key) ?? "[]");
      return Array.isArray(list) ? (list as S[]) : [];
    } catch {
      return [];
    }
  }

  private write(): void {
    try {
      this.kept.setItem(this.key, JSON.stringify(this.list));
    } catch {
      // Storage is full or refused: the answers stay in memory.
    }
  }
}

/** Whether the same answer will be refused again: wrong, or not there, or answered before. */
function isFinal(fault: Fault): boolean {
  return [400, 404, 409, 413].includes(fault.status);
}
