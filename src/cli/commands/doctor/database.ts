import { statSync } from "node:fs";

import type { Command } from "commander";

import { isRepriseError, systemCode } from "../../../core/errors.ts";
import { type Check, failed, failedBy, ok } from "../../../store/check.ts";
import { isPostgres } from "../../../store/location.ts";
import { databaseLocation } from "../../process/config.ts";
import type { CliContext } from "../../process/context.ts";
import { databaseOption, openDatabase } from "../../process/database.ts";
import { resumeCommand } from "../../process/resume-command.ts";
import { checkRuns } from "./runs.ts";

/**
 * The database: first its files and, on a connection that only reads, what SQLite reports,
 * then, if that is sound, the store itself. So a database that the program would refuse is
 * reported too, and one of an older version is not upgraded.
 */
export async function checkStored(
  cli: CliContext,
  command: Command,
  quick: boolean,
): Promise<Check[]> {
  const location = locationOf(cli, command);
  if (location === null) {
    return [];
  }
  if (isPostgres(location)) {
    return checkRows(cli, command);
  }
  try {
    return await checkFile({ cli, command, quick, location });
  } catch (error) {
    if (["EACCES", "EPERM", "ELOOP"].includes(systemCode(error) ?? "")) {
      const sentence =
        "The database or its folder cannot be read; check who owns it and its permissions.";
      return [failed("file", sentence)];
    }
    throw error;
  }
}

async function checkFile(input: {
  cli: CliContext;
  command: Command;
  quick: boolean;
  location: string;
}): Promise<Check[]> {
  const { location } = input;
  const [{ checkFiles }, { checkLog }, { checkDatabase }] = await Promise.all([
    import("../../../store/engines/sqlite/check-file.ts"),
    import("../../../store/engines/sqlite/check-log.ts"),
    import("../../../store/engines/sqlite/check-database.ts"),
  ]);
  const files = checkFiles(location);
  const log = checkLog(location);
  if (log.status === "failed") {
    // reading a database through a foreign log shows nothing about either
    return [...files, log];
  }
  if (statSync(location, { throwIfNoEntry: false }) === undefined) {
    return [ok("file", "There is no database yet. The first message creates it."), ...files];
  }
  const { checks, isCurrent } = checkDatabase(location, input.quick);
  const rows = isCurrent ? await checkRows(input.cli, input.command) : [];
  return [...files, log, ...checks, ...rows];
}

/**
 * Says about a database that nothing of this program opens what to do with it.
 *
 * Error codes: `database_too_old`.
 */
export async function refuseEarlier(cli: CliContext, command: Command): Promise<void> {
  const location = locationOf(cli, command);
  if (location === null || isPostgres(location)) {
    return;
  }
  const { isEarlierFile } = await import("../../../store/engines/sqlite/check-database.ts");
  if (isEarlierFile(location)) {
    const { databaseTooOld } = await import("../../../store/engines/migrations/history.ts");
    throw databaseTooOld();
  }
}

/** Null if the configuration does not name it; `checkConfig` has reported that. */
function locationOf(cli: CliContext, command: Command): string | null {
  try {
    return databaseLocation(cli, databaseOption(command));
  } catch (error) {
    if (isRepriseError(error)) {
      return null;
    }
    throw error;
  }
}

async function checkRows(cli: CliContext, command: Command): Promise<Check[]> {
  const { checkSessions } = await import("../../../store/verify/check-sessions.ts");
  try {
    await using store = await openDatabase(cli, command);
    return [
      ok("open", "The database can be opened and read."),
      ...(await store.read(checkSessions, { resume: resumeCommand(cli, command, "<id>") })),
      await checkRuns(store),
    ];
  } catch (error) {
    return [failedBy(error, "open")];
  }
}
