import { openStore } from "../../src/store/open-store.ts";
import type { Store } from "../../src/store/store.ts";

/** Opens the store at a file or a postgres:// address. */
export function openStoreAt(location: string): Promise<Store> {
  return openStore({ location });
}
