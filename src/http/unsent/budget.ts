import type { ServerResponse } from "node:http";

import { createFairLine } from "./fair-line.ts";

export interface BudgetEntry {
  readonly response: ServerResponse;
  /** Whom the line is shared among: see `whoSends`. */
  readonly who: string;
  readonly amount: number;
  readonly begin: () => void;
}

/** Bytes that requests take until they are answered or gone. */
export interface Budget {
  /** Requests that wait until there is enough. Everybody gets a part before anybody gets the next. */
  readonly waiting: number;
  /** Bytes that the next of them lacks. */
  readonly lack: number;
  enter(entry: BudgetEntry): void;
}

/** `smallFirst`: of the requests of one, those that take less do not wait for those that take more. */
export function createBudget(
  max: number,
  { smallFirst = false }: { readonly smallFirst?: boolean } = {},
): Budget {
  let taken = 0;
  const line = createFairLine<BudgetEntry>(({ amount }) => (smallFirst ? amount : 0));
  const admit = (): void => {
    for (let { first } = line; first !== undefined; { first } = line) {
      // a request that went away while it waited needs nothing
      const isGone = first.response.req.socket.destroyed;
      if (!isGone && taken > 0 && taken + first.amount > max) {
        return;
      }
      line.next();
      if (!isGone) {
        take(first);
      }
    }
  };
  const take = ({ response, amount, begin }: BudgetEntry): void => {
    taken += amount;
    onceOver(response, () => {
      taken -= amount;
      admit();
    });
    begin();
  };
  return {
    get waiting() {
      return line.length;
    },
    get lack() {
      return line.first === undefined ? 0 : Math.max(0, taken + line.first.amount - max);
    },
    enter: (entry) => {
      line.add(entry.who, entry);
      admit();
    },
  };
}

/** A response that waits for earlier ones on its connection is never closed if the connection is. */
function onceOver(response: ServerResponse, done: () => void): void {
  const { socket } = response.req;
  const over = (): void => {
    response.off("close", over);
    socket.off("close", over);
    done();
  };
  response.once("close", over);
  socket.once("close", over);
}
