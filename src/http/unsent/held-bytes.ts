import type { ServerResponse } from "node:http";

import { RepriseError } from "../../core/errors.ts";
import { createFairLine } from "./fair-line.ts";

interface Held {
  readonly reserved: number;
  readonly made: Buffer | null;
  readonly begun: number;
  progressed: number;
  taken: number;
}

interface Waiting {
  readonly response: ServerResponse;
  readonly amount: number;
  readonly resume: () => void;
}

/** While the budget is used up, an answer that paused for so long, or is as old and slower, gives its bytes back. */
const SLOW_MS = 2000;
const SLOW_BYTES_PER_MS = 64;
const IDLE_MS = 500;
/** How often it is checked whether an answer has become slow, while others wait for its bytes. */
const CHECK_MS = 200;

/** Bytes of answers that their clients have not taken, within a budget that all share. */
export class HeldBytes {
  readonly #maxBytes: number;
  readonly #cut: (response: ServerResponse) => void;
  /** In the order in which they last made progress. */
  readonly #answers = new Map<ServerResponse, Held>();
  /** How many answers have these bytes. */
  readonly #users = new Map<Buffer, number>();
  readonly #waiting = createFairLine<Waiting>();
  #bytes = 0;
  #checks: NodeJS.Timeout | undefined;

  /** `cut` ends the connection of an answer. */
  constructor(maxBytes: number, cut: (response: ServerResponse) => void) {
    this.#maxBytes = maxBytes;
    this.#cut = cut;
  }

  /** Bytes that are held or reserved now; those that several answers share count once. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes of answers of which nothing was taken for a while. */
  get idleBytes(): number {
    const since = performance.now() - IDLE_MS;
    let bytes = 0;
    for (const [response, { progressed, reserved, made }] of this.#answers) {
      if (progressed >= since) {
        break;
      }
      bytes += hasUntaken(response) ? reserved + (made?.length ?? 0) : 0;
    }
    return bytes;
  }

  /**
   * Returns true if so many bytes of an answer, in place of what is reserved for it, fit into the budget, also after
   * answers that are hardly read were cut for them. One answer alone may be larger than the budget.
   */
  ensureFits(response: ServerResponse, amount: number): boolean {
    const own = this.#answers.get(response)?.reserved ?? 0;
    const fits = (): boolean => this.#bytes === own || this.#bytes - own + amount <= this.#maxBytes;
    const now = performance.now();
    for (const [other, held] of this.#answers) {
      if (fits()) {
        return true;
      }
      if (other !== response && hasUntaken(other) && isSlow(held, now)) {
        this.#remove(other);
        this.#cut(other);
      }
    }
    return fits();
  }

  /** Keeps so many bytes for an answer that is about to be made, instead of what it holds. */
  reserve(response: ServerResponse, reserved: number): void {
    this.#replace(response, { reserved, made: null });
  }

  /**
   * Resolves once they fit and are reserved, or the client is gone. Everybody who waits gets some before anybody gets more.
   */
  reserveWhenFree(
    response: ServerResponse,
    { who, amount }: { readonly who: string; readonly amount: number },
  ): Promise<void> {
    return new Promise((resume) => {
      this.#waiting.add(who, { response, amount, resume });
      this.#admit();
    });
  }

  /** Counts what was made, instead of what was reserved. */
  hold(response: ServerResponse, made: Buffer): void {
    this.#replace(response, { reserved: 0, made });
  }

  /** Notes that the client has taken some of it. */
  progress(response: ServerResponse, amount: number): void {
    const held = this.#answers.get(response);
    if (held !== undefined) {
      held.taken += amount;
      held.progressed = performance.now();
      this.#answers.delete(response);
      this.#answers.set(response, held);
    }
  }

  release(response: ServerResponse): void {
    this.#remove(response);
    this.#admit();
  }

  #admit = (): void => {
    for (let { first } = this.#waiting; first !== undefined; { first } = this.#waiting) {
      const { response, amount, resume } = first;
      if (!response.closed && !this.ensureFits(response, amount)) {
        this.#checks ??= setInterval(this.#admit, CHECK_MS).unref();
        return;
      }
      this.#waiting.next();
      this.reserve(response, amount);
      resume();
    }
    clearInterval(this.#checks);
    this.#checks = undefined;
  };

  #replace(response: ServerResponse, now: Pick<Held, "reserved" | "made">): void {
    this.#remove(response);
    if (response.closed) {
      return;
    }
    const begun = performance.now();
    this.#answers.set(response, { ...now, begun, progressed: begun, taken: 0 });
    this.#bytes += now.reserved;
    if (now.made !== null) {
      const users = this.#users.get(now.made) ?? 0;
      this.#bytes += users === 0 ? now.made.length : 0;
      this.#users.set(now.made, users + 1);
    }
  }

  #remove(response: ServerResponse): void {
    const held = this.#answers.get(response);
    if (held === undefined) {
      return;
    }
    this.#answers.delete(response);
    this.#bytes -= held.reserved;
    if (held.made !== null) {
      const users = (this.#users.get(held.made) ?? 1) - 1;
      this.#users.set(held.made, users);
      if (users === 0) {
        this.#users.delete(held.made);
        this.#bytes -= held.made.length;
      }
    }
  }
}

/** True if its client could take something. A stream that waits for its turn has nothing to take, and is not slow. */
function hasUntaken(response: ServerResponse): boolean {
  return response.headersSent && response.writableLength > 0;
}

function isSlow({ begun, progressed, taken }: Held, now: number): boolean {
  const age = now - begun;
  return now - progressed >= SLOW_MS || (age >= SLOW_MS && taken < age * SLOW_BYTES_PER_MS);
}

/** Ends the connection of an answer that is not over. */
export function cut(response: ServerResponse): void {
  if (!response.closed) {
    response.req.socket.destroy();
  }
}

/** The refusal of an answer that has no space. */
export function tooBusy(): RepriseError {
  return new RepriseError(
    "answers_unread",
    "Too many clients do not read their answers, so there is no memory for this one. Try again in a few seconds, or ask for less with `limit`.",
  );
}
