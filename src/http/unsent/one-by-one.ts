import { setImmediate as nextTurn } from "node:timers/promises";

/** Runs work that blocks everything else, each in a separate turn of the event loop, so that others are answered in between. */
export type OneByOne = <T>(work: () => T) => Promise<T>;

export function createOneByOne(): OneByOne {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(() => nextTurn()).then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
}
