import { isRepriseError } from "../../../core/errors.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import { plural } from "../../../core/text/text.ts";
import type { Hook } from "../../../rules/hooks/hook.ts";
import type { ModelConfig } from "../../../rules/models/config.ts";
import { type Check, failedBy, ok, warning } from "../../../store/check.ts";
import { isPostgres } from "../../../store/location.ts";
import {
  databaseLocation,
  personaFolderPaths,
  settingsOf,
  trustSource,
} from "../../process/config.ts";
import { shownValue } from "../configure.ts";
import type { CliContext } from "../../process/context.ts";
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

/**
 * The user's config file: nothing if there is none, else each value that it or a variable sets. Of the config of
 * this folder, what is not used.
 */
export async function checkSettings(cli: CliContext): Promise<Check[]> {
  const { repositoryConfig } = await import("../../../rules/config/repository.ts");
  const { problems, hooks } = await repositoryConfig(cli.cwd, trustSource(cli));
  return [
    ...(await checkUserConfig(cli)),
    ...problems.map((problem) => warning("config", problem)),
    ...(await checkHooks(cli, hooks)),
  ];
}

/** The hooks of this folder, and whether those that need a sandbox can run. The user's are among the values. */
async function checkHooks(cli: CliContext, ofFolder: readonly Hook[]): Promise<Check[]> {
  const own = await settingsOf(cli)
    .at(cli.cwd)
    .then(
      ({ hooks }) => hooks,
      () => [],
    );
  if (own.length + ofFolder.length === 0) {
    return [];
  }
  const [{ hookLine }, { createSandboxProbe }] = await Promise.all([
    import("../../../rules/hooks/hook.ts"),
    import("../../../workspace/sandbox/probe.ts"),
  ]);
  const confined = [...own, ...ofFolder].filter(({ isConfined }) => isConfined);
  const { reason } = confined.length === 0 ? { reason: null } : await createSandboxProbe()();
  return [
    ...ofFolder.map((hook) =>
      ok("hooks", `The config of this folder runs ${oneLine(hookLine(hook))}`),
    ),
    ...(reason === null
      ? []
      : [
          warning(
            "hooks",
            `${plural(confined.length, "hook")} cannot run, because there is no sandbox: ${reason}. \`sandbox: false\` in your config runs a hook without one.`,
          ),
        ]),
  ];
}

async function checkUserConfig(cli: CliContext): Promise<Check[]> {
  const settings = settingsOf(cli);
  try {
    const config = await settings.config();
    if (config === null) {
      return [];
    }
    const { settingOrigins } = await import("../../../rules/config/origins.ts");
    const here = await settings.at(cli.cwd);
    return settingOrigins(here, cli.env, config)
      .filter(({ from }) => from !== "default")
      .map(({ key, value, from }) => ok("config", `${key} is ${shownValue(value)}, from ${from}.`));
  } catch (error) {
    return [failedBy(error, "config")];
  }
}

/** The MCP servers of this folder that cannot be used, and those that its own file names. Starts none. */
export async function checkServers(cli: CliContext): Promise<Check[]> {
  const [{ serversHere }, { configuredServers }, { serverLine }, { workFolder }] =
    await Promise.all([
      import("../../../rules/servers/servers-here.ts"),
      import("../../../mcp/configured-servers.ts"),
      import("../../../rules/servers/consent.ts"),
      import("../../../rules/trust/wide-folder.ts"),
    ]);
  const trust = trustSource(cli);
  const configured = await settingsOf(cli)
    .at(cli.cwd)
    .then(
      ({ mcp }) => mcp,
      () => ({}),
    );
  const here = await serversHere({
    configured,
    persona: null,
    folder: (await workFolder(cli.cwd, trust)).path,
    trust,
  });
  const { unusable, problems } = configuredServers(here, cli.env);
  return [
    ...Object.entries(here.entries)
      .filter(([, { from }]) => from !== "config")
      .map(([name, entry]) =>
        ok("mcp", `${entry.from} has the server ${oneLine(serverLine(name, entry))}`),
      ),
    ...[...new Set([...problems, ...unusable.map(({ problem }) => problem)])].map((problem) =>
      warning("mcp", problem),
    ),
  ];
}

/** The personas that a session in this folder could choose, and the files that cannot be used. */
export async function checkPersonas(cli: CliContext): Promise<Check[]> {
  const [{ surveyPersonas }, { personaChecks }] = await Promise.all([
    import("../../../rules/personas/list.ts"),
    import("../../../rules/checks.ts"),
  ]);
  return personaChecks(await surveyPersonas({ ...personaFolderPaths(cli), repoPath: cli.cwd }));
}

/** The skills and commands that a session in this folder has. */
export async function checkSkills(cli: CliContext): Promise<Check[]> {
  const { skillChecks } = await import("../../../rules/checks.ts");
  const { surveySkills } = await import("../../../rules/skills/survey.ts");
  return skillChecks(await surveySkills({ ...personaFolderPaths(cli), repoPath: cli.cwd }));
}

/**
 * The model of sessions that name none, and which providers have a key. Keys are never shown. With
 * `online` each configured provider is asked for its list of models, which costs nothing.
 */
export async function checkModels(cli: CliContext, online: boolean): Promise<Check[]> {
  const [{ defaultModel }, { modelCheck }] = await Promise.all([
    import("../../../rules/models/config.ts"),
    import("../../../rules/checks.ts"),
  ]);
  const config = await modelsOf(cli);
  const checks = [modelCheck(config), ...keysInEnvironment(cli)];
  return online ? [...checks, ...(await checkReachable(config, defaultModel(config)))] : checks;
}

/** Checks which keys commands of the agent could read of this process. */
function keysInEnvironment({ env }: CliContext): Check[] {
  const names = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"].filter((name) => (env[name] ?? "") !== "");
  return names.length === 0
    ? []
    : [
        ok(
          "keys",
          `${names.join(" and ")} in the environment can be read in /proc/<pid>/environ by a command without a sandbox. A key_file or key_command of your config avoids that.`,
        ),
      ];
}

/** A config that cannot be used has its own check. */
async function modelsOf(cli: CliContext): Promise<ModelConfig> {
  try {
    return (await settingsOf(cli).at(cli.cwd)).models;
  } catch (error) {
    if (!isRepriseError(error, "config_invalid")) {
      throw error;
    }
    return (await import("../../../rules/models/config.ts")).modelConfig(cli.env);
  }
}
