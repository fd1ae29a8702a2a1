import { join, resolve } from "node:path";

import { RepriseError } from "../core/errors.ts";
import type { CliContext } from "./context.ts";

/** Folders of one user, after the XDG Base Directory Specification. */
export interface UserFolders {
  /** Holds the database. */
  readonly data: string;
  /** Holds `personas/`. */
  readonly config: string;
}

/** Error codes: `config_invalid` when the environment names no home. */
export function userFolders(cli: CliContext): UserFolders {
  return {
    data: userFolder(cli, "XDG_DATA_HOME", ".local/share"),
    config: userFolder(cli, "XDG_CONFIG_HOME", ".config"),
  };
}

function userFolder(cli: CliContext, variable: string, fallback: string): string {
  const base = cli.env[variable];
  // the specification: a relative path there is to be ignored
  if (base?.startsWith("/")) {
    return join(base, "reprise");
  }
  const home = cli.env["HOME"];
  if (home === undefined || home === "") {
    throw new RepriseError(
      "config_invalid",
      `Reprise does not know where to keep its files, because HOME is not set; set HOME or ${variable}, or name a file with --database.`,
    );
  }
  return join(home, fallback, "reprise");
}

/** The database that a command is to use: `--database`, else `REPRISE_DATABASE`, else the user's own. */
export function databaseLocation(cli: CliContext, option: string | undefined): string {
  const named = option ?? cli.env["REPRISE_DATABASE"];
  if (option === "") {
    throw new RepriseError("invalid_usage", "--database needs a file or a postgres:// address.");
  }
  if (named === undefined || named === "") {
    return join(userFolders(cli).data, "reprise.db");
  }
  return isPostgres(named) ? named : resolve(cli.cwd, named);
}

export function isPostgres(location: string): boolean {
  return /^postgres(ql)?:\/\//i.test(location);
}
