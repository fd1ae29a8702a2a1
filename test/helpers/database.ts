import { join } from "node:path";

import { makeEmptyFile } from "./empty-file.ts";
import { createPostgres } from "./postgres.ts";
import { isPostgresRun } from "./size.ts";
import { makeFolder } from "./temp.ts";

/** A file or a postgres:// address with empty tables. */
export interface EmptyDatabase extends AsyncDisposable {
  readonly location: string;
}

/** False if `mayHaveChanged` always says yes, because asking would cost as much as reading. */
export function noticesQuiet(): boolean {
  return !isPostgresRun();
}

/** On the engine of this run, unless one is named: each of the `projects` in vitest.config.ts names one. */
export async function createDatabase(
  engine = isPostgresRun() ? "postgres" : "sqlite",
): Promise<EmptyDatabase> {
  if (engine !== "postgres") {
    const folder = makeFolder();
    const location = join(folder.path, "reprise.db");
    await makeEmptyFile(location);
    return {
      location,
      [Symbol.asyncDispose]: () => Promise.resolve(folder[Symbol.dispose]()),
    };
  }
  const database = await createPostgres();
  return { location: database.url, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
}
