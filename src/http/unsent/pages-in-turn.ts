import type { ServerResponse } from "node:http";

import { MAX_CONTENT_BYTES } from "../../core/limits.ts";
import type { HeldBytes } from "./held-bytes.ts";
import type { Turns } from "./turns.ts";

/** A stream of events: its answer, and whom it is for, as `whoSends` says. */
export interface PagedStream {
  readonly response: ServerResponse;
  readonly who: string;
}

export type StreamPages = (stream: PagedStream) => PagesInTurn;

export function createStreamPages(held: HeldBytes, turns: Turns): StreamPages {
  return (stream) => new PagesInTurn(stream, held, turns);
}

/** Pages of one stream, for those that send them. */
export type StreamPagesInTurn = Pick<PagesInTurn, keyof PagesInTurn>;

/** The pages of one stream that it reads to catch up; what is new goes to all readers at once. */
export class PagesInTurn {
  readonly #response: ServerResponse;
  readonly #who: string;
  readonly #held: HeldBytes;
  readonly #turns: Turns;

  constructor({ response, who }: PagedStream, held: HeldBytes, turns: Turns) {
    this.#response = response;
    this.#who = who;
    this.#held = held;
    this.#turns = turns;
  }

  /**
   * Reads a page in the stream's turn, once a message of any size fits into the budget of unsent answers; the
   * page counts until `taken` is called.
   */
  async read<Page extends { readonly bytes: Buffer | null } | null>(
    read: () => Promise<Page>,
  ): Promise<Page> {
    const page = await this.readValue(read);
    const bytes = page?.bytes ?? null;
    if (bytes === null) {
      this.taken();
    } else {
      this.#held.hold(this.#response, bytes);
    }
    return page;
  }

  /** Reads as `read` does, for a page that is not bytes yet: it counts as much as was reserved. */
  async readValue<Value>(read: () => Promise<Value>): Promise<Value> {
    const amount = MAX_CONTENT_BYTES;
    await this.#held.reserveWhenFree(this.#response, { who: this.#who, amount });
    const end = await this.turn();
    try {
      const value = await read();
      // its client's time begins now
      this.#held.reserve(this.#response, amount);
      return value;
    } catch (error) {
      this.taken();
      throw error;
    } finally {
      end();
    }
  }

  /** Waits for a turn to make something large; the function ends it. */
  turn(): Promise<() => void> {
    return this.#turns.take(this.#who);
  }

  /** Reports that the client has taken some of the page. */
  progress(bytes: number): void {
    this.#held.progress(this.#response, bytes);
  }

  /** Reports that it has taken all. */
  taken(): void {
    this.#held.release(this.#response);
  }
}
