import { type Check, failedBy, ok, warning } from "../../store/verify/check.ts";
import { isPostgres } from "../../store/location.ts";
import { databaseLocation, personaFolderPaths } from "../config.ts";
import type { CliContext } from "../context.ts";
import { checkReachable } from "./online.ts";

/** The folders of the program's files, as far as the environment names them. */
export function checkConfig(cli: CliContext, option: string | undefined): Check[] {
  try {
    const location = databaseLocation(cli, option);
    const shown = isPostgres(location) ? "a PostgreSQL server" : location;
    return [...ignoredFolders(cli), ok("config", `The database is ${shown}.`)];
  } catch (error) {
    return [failedBy(error, "config")];
  }
}

/**
 * A path that is not absolute is ignored there, as the XDG specification says, without any message.
 */
function ignoredFolders(cli: CliContext): Check[] {
  return ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME"]
    .filter((variable) => {
      const value = cli.env[variable] ?? "";
      return value !== "" && !value.startsWith("/");
    })
    .map((variable) =>
      warning(
        "config",
        `${variable} is ignored, because it is not an absolute path; begin it with /.`,
      ),
    );
}

/** The personas that a session in this folder could choose, and the files that cannot be used. */
export async function checkPersonas(cli: CliContext): Promise<Check[]> {
  const [{ surveyPersonas }, { personaChecks }] = await Promise.all([
    import("../../exchange/personas/list.ts"),
    import("../../exchange/checks.ts"),
  ]);
  return personaChecks(await surveyPersonas({ ...personaFolderPaths(cli), repoPath: cli.cwd }));
}

/**
 * The model of sessions that name none, and which providers have a key. Keys are never shown. With
 * `online` each configured provider is asked for its list of models, which costs nothing.
 */
export async function checkModels(cli: CliContext, online: boolean): Promise<Check[]> {
  const [{ defaultModel, modelConfig }, { modelCheck }] = await Promise.all([
    import("../../exchange/models/config.ts"),
    import("../../exchange/checks.ts"),
  ]);
  const config = modelConfig(cli.env);
  const checks = [modelCheck(config)];
  return online ? [...checks, ...(await checkReachable(config, defaultModel(config)))] : checks;
}
