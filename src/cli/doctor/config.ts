import { isRepriseError } from "../../core/errors.ts";
import type { Check } from "../../store/verify/check.ts";
import { isPostgres } from "../../store/location.ts";
import { databaseLocation } from "../config.ts";
import type { CliContext } from "../context.ts";

/** Where the program keeps its files, as far as the environment tells. */
export function checkConfig(cli: CliContext, option: string | undefined): Check[] {
  try {
    const location = databaseLocation(cli, option);
    const shown = isPostgres(location) ? "a PostgreSQL server" : location;
    return [...ignoredFolders(cli), ok(`The database is ${shown}.`)];
  } catch (error) {
    if (isRepriseError(error)) {
      return [{ name: "config", status: "failed", sentence: error.message }];
    }
    throw error;
  }
}

/** A path that is not absolute is ignored there, as the XDG specification says, and nobody is told. */
function ignoredFolders(cli: CliContext): Check[] {
  return ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME"]
    .filter((variable) => {
      const value = cli.env[variable] ?? "";
      return value !== "" && !value.startsWith("/");
    })
    .map((variable) => ({
      name: "config",
      status: "warning",
      sentence: `${variable} is ignored, because it is no absolute path; write it with a / in front.`,
    }));
}

function ok(sentence: string): Check {
  return { name: "config", status: "ok", sentence };
}
