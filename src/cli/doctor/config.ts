import { type Check, failedBy, ok, warning } from "../../store/verify/check.ts";
import { isPostgres } from "../../store/location.ts";
import { databaseLocation, personaFolderPaths } from "../config.ts";
import type { CliContext } from "../context.ts";
import { plural } from "../../core/text.ts";
import type { ModelConfig } from "../../exchange/models/config.ts";
import { modelSettings } from "../../exchange/models/settings.ts";
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
  const [{ surveyPersonas }, { isBroken }] = await Promise.all([
    import("../../exchange/personas/list.ts"),
    import("../../exchange/personas/persona.ts"),
  ]);
  const { entries, withheld } = await surveyPersonas({
    ...personaFolderPaths(cli),
    repoPath: cli.cwd,
  });
  const broken = entries
    .filter(isBroken)
    .map(({ path, fault }) => warning("personas", `${path} cannot be used: ${fault}.`));
  const notes = entries.flatMap((entry) =>
    isBroken(entry) ? [] : entry.notes.map((note) => ok("personas", `${entry.path}: ${note}.`)),
  );
  const usable = entries.length - broken.length;
  return [
    ...broken,
    ...notes,
    ...(withheld.length === 0 ? [] : [notTrusted(withheld.length)]),
    ok("personas", `${plural(usable, "persona")} to choose from.`),
  ];
}

function notTrusted(count: number): Check {
  const what = count === 1 ? "1 persona of it is" : `${count} personas of it are`;
  return ok(
    "personas",
    `This folder is not trusted, so ${what} not used; \`reprise trust add\` trusts it.`,
  );
}

/**
 * The model of sessions that name none, and which providers have a key. Keys are never shown. With
 * `online` each configured provider is asked for its list of models, which costs nothing.
 */
export async function checkModels(cli: CliContext, online: boolean): Promise<Check[]> {
  const { defaultModel, modelConfig } = await import("../../exchange/models/config.ts");
  const config = modelConfig(cli.env);
  const name = defaultModel(config);
  const checks = [await checkDefault(name, config)];
  return online ? [...checks, ...(await checkReachable(config, name))] : checks;
}

async function checkDefault(name: string, config: ModelConfig): Promise<Check> {
  try {
    modelSettings({ name, config });
  } catch (error) {
    return failedBy(error, "models", "The default model: ");
  }
  const { isDemo } = await import("../../exchange/models/name.ts");
  const keys = [
    ...(config.anthropic.apiKey === null ? [] : ["ANTHROPIC_API_KEY"]),
    ...(config.openai.apiKey === null ? [] : ["OPENAI_API_KEY"]),
  ];
  const known = keys.length === 0 ? "no API key is set" : `${keys.join(" and ")} set`;
  return ok(
    "models",
    isDemo(name)
      ? `Sessions without a model use the offline demo (${known}). For a real model, set ANTHROPIC_API_KEY, OPENAI_API_KEY or REPRISE_MODEL.`
      : `Sessions without a model use ${name} (${known}).`,
  );
}
