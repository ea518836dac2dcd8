// Somebody reviews: items are asked for ahead, an answer is sent at once, what could not be sent is kept. It knows no page: what
// is asked and how it is sent is its source's, the items of a metric or of a queue.
import { Fault } from "./api";
import { type Kept, Outbox, type Refusal } from "./outbox";
import { type Kind, dealt, walked } from "./review";

/** The item at hand and the next three. */
const AHEAD = 4;

/** The longest that the server may take: a connection that went silent would hold up everything behind it. Milliseconds. */
const PATIENCE = 60_000;

/** The end of the patience with one request. */
export function patience(): AbortSignal {
  return AbortSignal.timeout(PATIENCE);
}

/** Sends only while who gave an answer is there: the server takes the name of whoever sends it. */
export function whileThere<S, A>(post: (sent: S) => Promise<A>, isThere: () => boolean): (sent: S) => Promise<A> {
  return (sent) => (isThere() ? post(sent) : Promise.reject(new Fault("login", "It waits for the token that gave it", 401)));
}

interface Named {
  item: string;
}

interface Posted extends Named {
  kind: Kind;
}

/** Where items come from and answers go: I an item, D the draft of an answer, G what is given, S what is sent, T what is told. */
export interface Source<I extends Named, D, G extends { items: I[] }, S extends Posted, T> {
  /** Its name, under which answers are kept in the tab. */
  key: string;
  empty: D;
  load: (who: string, decides: boolean, count: number) => Promise<G>;
  post: (sent: S) => Promise<{ items?: T[] } | null>;
  answer: (item: I, kind: Kind, draft: D, who: string, seconds: number) => S;
  /** Who gave an answer, as `answer` was told. */
  by: (sent: S) => string;
  /** The draft of an answer that was taken back. */
  again: (draft: D) => D;
  /** What is still missing, for a person. */
  lacks: (item: I, draft: D) => string;
}

/** What it needs of the page around it. */
export interface Around {
  kept: Kept;
  redraw: () => void;
  say: (text: string) => void;
  /** Runs it after a while: what could not be sent is sent again. */
  later: (run: () => void) => void;
}

interface Seat<I extends Named, D, G extends { items: I[] }, S extends Posted, T> {
  source: Source<I, D, G, S, T>;
  who: string;
  decides: boolean;
  outbox: Outbox<S, T>;
}

export class ReviewSession<I extends Named, D, G extends { items: I[] }, S extends Posted, T> {
  given: G | undefined;
  fault: Fault | undefined;
  /** The last own answer, as the server knows it. */
  told: T | undefined;
  times: number[] = [];
  private deck: I[] = [];
  private at = 0;
  private since = Date.now();
  private drafts = new Map<string, D>();
  /** Items that this person answered; those of an earlier visit, of which only the name is known, are undefined. */
  private done = new Map<string, I | undefined>();
  private seat: Seat<I, D, G, S, T> | undefined;
  /** Whether somebody sends and asks, and whether there is more to send since. */
  private syncing = false;
  private again = false;
  /** Whether it is tried again later: once, however many answers found no server. */
  private waits = false;
  /** Whether the page is gone: what waits is still sent, and nothing more is asked for. */
  private left = false;

  constructor(private readonly around: Around) {}

  get item(): I | undefined {
    return this.deck[this.at];
  }

  get draft(): D | undefined {
    return this.item && this.drafts.get(this.item.item);
  }

  get place(): string {
    return `${this.at + 1} of ${this.deck.length} at hand`;
  }

  get unsent(): number {
    return this.seat?.outbox.waiting.length ?? 0;
  }

  /** What was answered under this name, and refused for good. */
  get refused(): readonly Refusal<S>[] {
    const { seat } = this;
    return seat ? seat.outbox.refused.filter(({ sent }) => seat.source.by(sent) === seat.who) : [];
  }

  discard(refusal: Refusal<S>): void {
    this.seat?.outbox.discard(refusal);
    this.around.redraw();
  }

  /** Whether items may still come: until the last answer is there and nothing was given since, nobody knows that there are none. */
  get busy(): boolean {
    return this.syncing || (this.given === undefined && this.fault === undefined);
  }

  /** Somebody sits down: in front of other items, under another name, or to decide. */
  sit(source: Source<I, D, G, S, T>, who: string, decides: boolean): Promise<void> {
    const before = this.seat;
    const isHere = before?.source.key === source.key;
    const outbox = Outbox.of<S, T>(this.around.kept, `groundline.review.${source.key}`, source.post);
    this.seat = { source, who, decides, outbox };
    this.left = false;
    if (!isHere || before.who !== who) this.forget(this.seat);
    this.deck = [];
    this.at = 0;
    this.around.redraw();
    return this.sync();
  }

  /** The page goes: items that were asked for now would be kept from others for nobody. */
  leave(): void {
    this.left = true;
  }

  /** What one has answered, written and been told is not the next one's. Answers that wait may be anybody's. */
  private forget({ source, who, outbox }: Seat<I, D, G, S, T>): void {
    this.done = new Map();
    this.drafts = new Map();
    this.times = [];
    this.told = undefined;
    this.given = undefined;
    this.fault = undefined;
    for (const sent of outbox.waiting) {
      if (source.by(sent) !== who) continue;
      if (sent.kind === "undo") this.done.delete(sent.item);
      else this.done.set(sent.item, undefined);
    }
  }

  /**
   * Sends what waits; then there is room for more items. One at a time: items that were asked for before an answer was there
   * would stand beside those that came after it.
   */
  async sync(): Promise<void> {
    this.again = true;
    if (this.syncing) return;
    this.syncing = true;
    while (this.again && this.seat) {
      this.again = false;
      await this.send(this.seat.outbox);
      this.around.redraw();
      if (!this.left && this.deck.length < AHEAD) await this.load(this.seat);
    }
    this.syncing = false;
    this.around.redraw();
  }

  private async send(outbox: Outbox<S, T>): Promise<void> {
    const { told, refused, fault } = await outbox.flush();
    const now = this.seat;
    // What evaluators and others said of an item is for who answered it.
    const isMine = (sent: S) => now?.outbox === outbox && now.source.by(sent) === now.who;
    const last = told.filter(({ sent }) => isMine(sent)).at(-1);
    if (last) this.told = last.told;
    for (const { sent, why } of refused) {
      this.around.say(why);
      // The server has no such answer, so that it gives the item again.
      if (isMine(sent) && sent.kind !== "undo") this.done.delete(sent.item);
    }
    // Without a login nothing is taken however often it is sent: whoever sits down after it sends it.
    if (!fault || fault.status === 401 || this.waits) return;
    this.waits = true;
    this.around.later(() => {
      this.waits = false;
      void this.sync();
    });
  }

  private async load(seat: Seat<I, D, G, S, T>): Promise<void> {
    try {
      const given = await seat.source.load(seat.who, seat.decides, AHEAD);
      if (this.seat !== seat) return;
      this.given = given;
      this.fault = undefined;
      if (this.deck.length === 0) this.since = Date.now();
      this.deck = dealt(this.deck, given.items, new Set(this.done.keys()));
      this.at = walked(this.at, 0, this.deck.length);
    } catch (error) {
      if (this.seat === seat) this.fault = error instanceof Fault ? error : new Fault("server", String(error));
    }
  }

  change(change: Partial<D>): void {
    const { item, seat } = this;
    if (!item || !seat) return;
    this.drafts.set(item.item, { ...(this.draft ?? seat.source.empty), ...change });
    this.around.redraw();
  }

  walk(by: number): void {
    this.at = walked(this.at, by, this.deck.length);
    this.since = Date.now();
    this.around.redraw();
  }

  commit(kind: Kind): void {
    const { item, seat } = this;
    if (!item || !seat) return;
    const draft = this.draft ?? seat.source.empty;
    const lacks = kind === "answer" ? seat.source.lacks(item, draft) : "";
    if (lacks !== "") return this.around.say(lacks);
    seat.outbox.add(seat.source.answer(item, kind, draft, seat.who, Math.round((Date.now() - this.since) / 100) / 10));
    this.done.set(item.item, item);
    this.deck = this.deck.filter((other) => other.item !== item.item);
    this.at = walked(this.at, 0, this.deck.length);
    this.since = Date.now();
    this.times.push(this.since);
    void this.sync();
    this.around.redraw();
  }

  undo(): void {
    const last = [...this.done.values()].at(-1);
    const { seat } = this;
    if (!last || !seat) return this.around.say("There is nothing to take back");
    const { source, who, outbox } = seat;
    this.done.delete(last.item);
    this.drafts.set(last.item, source.again(this.drafts.get(last.item) ?? source.empty));
    this.times.pop();
    if (!outbox.takeBack(last.item)) outbox.add(source.answer(last, "undo", source.empty, who, 0));
    this.deck = [last, ...this.deck.filter((other) => other.item !== last.item)];
    this.at = 0;
    this.since = Date.now();
    this.around.say("Taken back");
    void this.sync();
    this.around.redraw();
  }
}
