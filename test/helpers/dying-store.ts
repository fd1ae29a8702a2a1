import { RepriseError } from "../../src/core/errors.ts";
import type { Store } from "../../src/store/store.ts";

export interface DyingStore {
  readonly store: Store;
  /** Resolves when its process is as good as dead: nothing that it does is answered any more. */
  readonly dead: Promise<void>;
  /** Lets what hangs fail, so that it ends. */
  bury(): void;
}

/** A store whose process dies before or after its write of this number, from 1. */
export function dyingStore(store: Store, at: number, when: "before" | "after"): DyingStore {
  const dead = Promise.withResolvers<void>();
  const buried = Promise.withResolvers<never>();
  buried.promise.catch(() => undefined);
  let writes = 0;
  let isDead = false;
  const die = (): Promise<never> => {
    isDead = true;
    dead.resolve();
    return buried.promise;
  };
  const dying: Store = {
    ...methodsOf(store),
    read: (operation, input) => (isDead ? buried.promise : store.read(operation, input)),
    write: async (operation, input) => {
      if (isDead) {
        return buried.promise;
      }
      writes += 1;
      if (writes === at && when === "before") {
        return die();
      }
      const dies = writes === at;
      const output = await store.write(operation, input);
      return dies ? die() : output;
    },
  };
  return {
    store: dying,
    dead: dead.promise,
    bury: () => buried.reject(new RepriseError("lease_lost", "The process is dead.")),
  };
}

function methodsOf(store: Store): Omit<Store, "read" | "write"> {
  return {
    location: store.location,
    onCommit: (listener) => store.onCommit(listener),
    mayHaveChanged: () => store.mayHaveChanged(),
    load: () => store.load(),
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
