import { RepriseError } from "../../core/errors.ts";
import type { Store } from "../store.ts";

/** The end of a store: `work` runs once, however often it is closed. */
export function closeOnce(work: () => Promise<void>): Pick<Store, "close"> & AsyncDisposable {
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => (closing ??= work());
  return { close, [Symbol.asyncDispose]: close };
}

/** For an operation that comes after the store was closed. */
export function shuttingDown(): RepriseError {
  return new RepriseError("shutting_down", "The database was closed. Open it again.");
}
