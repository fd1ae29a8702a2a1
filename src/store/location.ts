import { RepriseError } from "../core/errors.ts";

/** True for the address of a PostgreSQL server; every other location is a file. */
export function isPostgres(location: string): boolean {
  return /^postgres(ql)?:\/\//i.test(location);
}

/**
 * The location that a person or a program gave. Other savers keep `:memory:` in memory; here it
 * would be the name of a file.
 *
 * Error codes: `config_invalid`.
 */
export function requireLocation(location: unknown): string {
  if (typeof location !== "string" || location.trim() === "") {
    throw invalid("No database is named. Give the path of a file or a postgres:// address.");
  }
  if (location.trim() === ":memory:") {
    throw invalid(
      "Reprise keeps no database in memory. Give the path of a file in a temporary folder, or use LangGraph's MemorySaver.",
    );
  }
  refuseOtherAddress(location);
  return location;
}

/**
 * Refuses an address that is not PostgreSQL's. With a typing error in its scheme it would be the
 * name of a new file, password and all.
 */
function refuseOtherAddress(location: string): void {
  if (!isPostgres(location) && (location.includes("://") || /^postgres\w*:/i.test(location))) {
    throw invalid(
      "The database is not a PostgreSQL address. Write it as postgres://user@host:5432/name, or name a file by its path alone.",
    );
  }
}

function invalid(sentence: string): RepriseError {
  return new RepriseError("config_invalid", sentence);
}
