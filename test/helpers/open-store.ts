import { openPostgresStore } from "../../src/store/engines/postgres/open.ts";
import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import type { Store } from "../../src/store/store.ts";

/** Opens the store at a file or a postgres:// address. */
export function openStoreAt(location: string): Promise<Store> {
  return /^postgres(ql)?:/.test(location)
    ? openPostgresStore({ url: location })
    : openSqliteStore({ path: location });
}
