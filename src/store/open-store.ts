import { isPostgres } from "./location.ts";
import type { Store, StoreOptions } from "./store.ts";

/**
 * Opens a store from its location. Its engine is loaded when it is opened: most commands need one of
 * them or none.
 */
export async function openStore({ location, ...options }: StoreOptions): Promise<Store> {
  if (isPostgres(location)) {
    const { openPostgresStore } = await import("./engines/postgres/open.ts");
    return openPostgresStore({ url: location, ...options });
  }
  const { openSqliteStore } = await import("./engines/sqlite/open.ts");
  return openSqliteStore({ path: location, ...options });
}
