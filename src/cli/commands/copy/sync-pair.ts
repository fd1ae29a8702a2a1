import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { RepriseError } from "../../../core/errors.ts";
import { isPostgres } from "../../../store/location.ts";
import type { ReadOnlyStore, Store } from "../../../store/store.ts";
import type { CliContext } from "../../process/context.ts";
import { openStoreAt } from "../../process/database.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import { areSameFile, haveSameTables, named, openSourceAt } from "./copy-pair.ts";

/** Locations as `databaseLocation` gives them. */
export interface SyncLocations {
  readonly here: string;
  readonly there: string;
  /** False to upgrade the own database without a copy. */
  readonly backup: boolean;
  /** True to open both to read them only. */
  readonly isDry: boolean;
}

/** A database of a sync; `write` is null if it is only read. */
export type Synced = Pick<ReadOnlyStore, "location" | "read"> & {
  readonly write: Store["write"] | null;
};

export interface SyncPair extends AsyncDisposable {
  readonly here: Synced;
  readonly there: Synced;
}

/**
 * Opens the own database, and the other one, which has to be there and of this version: another machine may use it.
 * Errors of the other one name the option.
 *
 * Error codes: `database_*`, `config_invalid`; `invalid_usage` if both are the same.
 */
export async function openSyncPair(cli: CliContext, locations: SyncLocations): Promise<SyncPair> {
  await using opened = new AsyncDisposableStack();
  refuseMissing(locations.there);
  const { here, there } = locations;
  if (existsSync(here) && (await areSameFile(here, there))) {
    throw sameDatabase();
  }
  // refuses another version and other files before anything is made
  const source = opened.use(await named("--with", () => openSourceAt(locations.there)));
  const own = opened.use(await openOwn(cli, locations));
  if (isPostgres(here) && isPostgres(there) && (await haveSameTables(own, source))) {
    throw sameDatabase();
  }
  const other = locations.isDry ? source : opened.use(await openOther(cli, there));
  const both = opened.move();
  return {
    here: writable(own, locations),
    there: namedOther(writable(other, locations)),
    [Symbol.asyncDispose]: () => both.disposeAsync(),
  };
}

function refuseMissing(there: string): void {
  if (!isPostgres(there) && !existsSync(there)) {
    throw new RepriseError(
      "database_unavailable",
      "--with: There is no database at this path. Check the path, or make the database with `reprise copy --to`.",
    );
  }
}

function sameDatabase(): RepriseError {
  return wrongUsage(
    "--with names the database that is used here, so there is nothing to sync. Name the one of another machine.",
  );
}

async function openOwn(
  cli: CliContext,
  { here, backup, isDry }: SyncLocations,
): Promise<ReadOnlyStore | Store> {
  if (!isDry) {
    return openStoreAt(cli, { location: here, backup });
  }
  return isPostgres(here) || existsSync(here) ? openSourceAt(here) : openEmpty(cli);
}

/** A database without sessions, in the place of one that is not there yet; deleted when it is closed. */
async function openEmpty(cli: CliContext): Promise<ReadOnlyStore> {
  const folder = await mkdtemp(join(tmpdir(), "reprise-sync-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const store = await openStoreAt(cli, { location: join(folder, "reprise.db") });
    const close = async (): Promise<void> => {
      await store.close();
      await remove();
    };
    return {
      location: store.location,
      read: (operation, input) => store.read(operation, input),
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function openOther(cli: CliContext, location: string): Promise<Store> {
  return named("--with", () => openStoreAt(cli, { location }));
}

function writable(store: ReadOnlyStore | Store, { isDry }: SyncLocations): Synced {
  const { location } = store;
  return {
    location,
    read: (operation, input) => store.read(operation, input),
    write:
      isDry || !("write" in store) ? null : (operation, input) => store.write(operation, input),
  };
}

function namedOther({ location, read, write }: Synced): Synced {
  return {
    location,
    read: (operation, input) => named("--with", () => read(operation, input)),
    write:
      write === null ? null : (operation, input) => named("--with", () => write(operation, input)),
  };
}
