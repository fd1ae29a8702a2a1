import type { ServerResponse } from "node:http";

import { MAX_CONTENT_BYTES } from "../../core/limits.ts";
import type { HeldBytes } from "./held-bytes.ts";
import type { Turns } from "./turns.ts";

/** A stream of events: its answer, and whom it is for, as `whoSends` says. */
export interface PagedStream {
  readonly response: ServerResponse;
  readonly who: string;
}

/** The pages of one stream that it reads to catch up; what is new goes to all readers at once. */
export interface PagesInTurn {
  /**
   * Reads a page in the stream's turn, once a message of any size fits into the budget of unsent answers; the
   * page counts until `taken` is called.
   */
  read<Page extends { readonly bytes: Buffer | null } | null>(
    read: () => Promise<Page>,
  ): Promise<Page>;
  /** Reads as `read` does, for a page that is not bytes yet: it counts as much as was reserved. */
  readValue<Value>(read: () => Promise<Value>): Promise<Value>;
  /** Waits for a turn to make something large; the function ends it. */
  turn(): Promise<() => void>;
  /** Reports that the client has taken some of the page. */
  progress(bytes: number): void;
  /** Reports that it has taken all. */
  taken(): void;
}

export type StreamPages = (stream: PagedStream) => PagesInTurn;

export function createStreamPages(held: HeldBytes, turns: Turns): StreamPages {
  const readIn = async <Value>(
    { response, who }: PagedStream,
    read: () => Promise<Value>,
  ): Promise<Value> => {
    await held.reserveWhenFree(response, { who, amount: MAX_CONTENT_BYTES });
    const end = await turns.take(who);
    try {
      return await read();
    } catch (error) {
      held.release(response);
      throw error;
    } finally {
      end();
    }
  };
  return ({ response, who }) => ({
    read: async (read) => {
      const page = await readIn({ response, who }, read);
      const bytes = page?.bytes ?? null;
      if (bytes === null) {
        held.release(response);
      } else {
        held.hold(response, bytes);
      }
      return page;
    },
    readValue: (read) => readIn({ response, who }, read),
    turn: () => turns.take(who),
    progress: (bytes) => held.progress(response, bytes),
    taken: () => held.release(response),
  });
}
