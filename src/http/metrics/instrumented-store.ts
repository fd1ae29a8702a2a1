import { isRepriseError, RepriseError } from "../../core/errors.ts";
import type { Store } from "../../store/store.ts";
import type { Observe } from "../observation.ts";

/**
 * Wraps a store so that the time of each operation, its waiting included, is reported to `observe`. Once it is
 * closed, its refusals say that the service stops: a client cannot open it again.
 */
export function instrumentedStore(store: Store, observe: Observe): Store {
  const timed = async <Output>(
    operation: "read" | "write",
    answer: Promise<Output>,
  ): Promise<Output> => {
    const begun = performance.now();
    let outcome = "done";
    try {
      return await answer;
    } catch (error) {
      outcome = isRepriseError(error) ? error.code : "failed";
      throw isRepriseError(error, "shutting_down") ? stopping(error) : error;
    } finally {
      observe({ kind: "operation", operation, outcome, ms: performance.now() - begun });
    }
  };
  return {
    location: store.location,
    read: (operation, input) => timed("read", store.read(operation, input)),
    write: (operation, input) => timed("write", store.write(operation, input)),
    onCommit: (listener) => store.onCommit(listener),
    mayHaveChanged: () => store.mayHaveChanged(),
    load: () => store.load(),
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

function stopping(cause: RepriseError): RepriseError {
  return new RepriseError("shutting_down", "Reprise is shutting down; try again later.", { cause });
}
