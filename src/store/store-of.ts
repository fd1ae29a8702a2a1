import { RepriseError } from "../core/errors.ts";
import type { OpenStore, Store } from "./store.ts";

/**
 * The operations of a store that a program opened and hands in.
 * Error codes: `invalid_usage` for anything else.
 */
export function storeOf(store: OpenStore): Store {
  if (!isStore(store)) {
    throw new RepriseError(
      "invalid_usage",
      "This is not a store. Pass what `openSqliteStore` or `openPostgresStore` resolved to.",
    );
  }
  return store;
}

function isStore(store: OpenStore): store is Store {
  return typeof store === "object" && store !== null && "read" in store && "write" in store;
}
