import { isRepriseError, RepriseError } from "../../../core/errors.ts";
import type { ReadOnlyStore, Store } from "../../../store/store.ts";
import { isPostgres } from "../../../store/location.ts";
import type { CliContext } from "../../process/context.ts";
import { openStoreAt } from "../../process/database.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";

/** Locations as `databaseLocation` gives them. */
export interface CopyLocations {
  readonly from: string;
  readonly to: string;
  /** False to upgrade a target of an older version without a copy. */
  readonly backup: boolean;
}

export interface Pair extends AsyncDisposable {
  readonly source: ReadOnlyStore;
  readonly target: Store;
}

/**
 * Opens a database to read it and another one to write it, which is created if it does not exist;
 * nothing is created if the first one cannot be read. Errors name the option.
 *
 * Error codes: `database_*`, `config_invalid`; `invalid_usage` if both are the same.
 */
export async function openPair(cli: CliContext, locations: CopyLocations): Promise<Pair> {
  await using opened = new AsyncDisposableStack();
  const source = opened.use(await named("--from", () => openSource(locations.from)));
  await refuseSameFile(locations);
  const target = opened.use(
    await named("--to", () =>
      openStoreAt(cli, { location: locations.to, backup: locations.backup }),
    ),
  );
  await refuseSameTables(locations, { source, target });
  const both = opened.move();
  return {
    source: {
      ...source,
      read: (operation, input) => named("--from", () => source.read(operation, input)),
    },
    target: namedTarget(target),
    [Symbol.asyncDispose]: () => both.disposeAsync(),
  };
}

async function openSource(location: string): Promise<ReadOnlyStore> {
  try {
    return await openSourceAt(location);
  } catch (error) {
    throw isRepriseError(error, "database_foreign") ? foreignSource(error) : error;
  }
}

function foreignSource(cause: RepriseError): RepriseError {
  return new RepriseError(
    "database_foreign",
    "The database is another program's. Name one of Reprise with --from; threads of LangGraph's own savers are copied with --from-langgraph.",
    { cause },
  );
}

/** Opens a database that is only read; it has to be there. Error codes: `database_*`. */
export async function openSourceAt(location: string): Promise<ReadOnlyStore> {
  if (isPostgres(location)) {
    const { openPostgresSource } = await import("../../../store/engines/postgres/open-source.ts");
    return openPostgresSource({ url: location });
  }
  const { openSqliteSource } = await import("../../../store/engines/sqlite/open-source.ts");
  return openSqliteSource({ path: location });
}

/** An error names the database that it is about, once: `done` holds those that name theirs. */
export async function named<Output>(
  option: string,
  work: () => Promise<Output>,
  done = new WeakSet<Error>(),
): Promise<Output> {
  try {
    return await work();
  } catch (error) {
    if (!isRepriseError(error) || done.has(error) || !/^(database|config)_/.test(error.code)) {
      throw error;
    }
    const cause = { cause: error };
    const naming = new RepriseError(error.code, `${option}: ${error.message}`, cause);
    done.add(naming);
    throw naming;
  }
}

/** The store of `--to`, whose errors say so. */
export function namedTarget(target: Store, done?: WeakSet<Error>): Store {
  return {
    ...target,
    read: (operation, input) => named("--to", () => target.read(operation, input), done),
    write: (operation, input) => named("--to", () => target.write(operation, input), done),
  };
}

/** Error codes: `invalid_usage`. */
export async function refuseSameFile({ from, to }: Omit<CopyLocations, "backup">): Promise<void> {
  if (await areSameFile(from, to)) {
    throw sameDatabase();
  }
}

/** False for addresses of servers: see `haveSameTables`. The first file has to be there. */
export async function areSameFile(one: string, other: string): Promise<boolean> {
  if (isPostgres(one) || isPostgres(other)) {
    return false;
  }
  const { isSameFile } = await import("../../../store/database-path.ts");
  return isSameFile(one, other);
}

/** Compares two servers by what they hold: hosts have several names, and a server several addresses. */
export async function haveSameTables(one: ReadOnlyStore, other: ReadOnlyStore): Promise<boolean> {
  const { whichDatabase } = await import("../../../store/engines/postgres/open-source.ts");
  return (await one.read(whichDatabase, null)) === (await other.read(whichDatabase, null));
}

async function refuseSameTables(
  { from, to }: CopyLocations,
  { source, target }: { readonly source: ReadOnlyStore; readonly target: Store },
): Promise<void> {
  if (isPostgres(from) && isPostgres(to) && (await haveSameTables(source, target))) {
    throw sameDatabase();
  }
}

function sameDatabase(): RepriseError {
  return wrongUsage(
    "The source and --to are the same database, so there is nothing to copy; name another one as the target.",
  );
}
