import { homedir } from "node:os";

import { RepriseError } from "../../core/errors.ts";
import type { PermissionMode } from "../../core/permissions.ts";
import type { Session } from "../../core/sessions.ts";
import type { Tool, ToolSet } from "../../core/tools.ts";
import { readPermissions } from "../../store/sessions/permissions.ts";
import { repositoryConfig } from "../config/repository.ts";
import type { ProtectedPath } from "../config/user-config.ts";
import type { ExchangerConfig } from "../exchanger.ts";
import { createLinkSearch } from "../files/control-links.ts";
import { createControlSearch } from "../places/found-control.ts";
import { locate } from "../files/resolve-path.ts";
import { resolveSandbox } from "../files/sandbox.ts";
import { loadPersona } from "../personas/load.ts";
import { mayRunCommands } from "../commands/command-folder.ts";
import { plainParts } from "../commands/plain-line.ts";
import { BUILT_IN_TOOLS } from "../tools/built-in.ts";
import { workFolder } from "../trust/wide-folder.ts";
import type { Call } from "./call.ts";
import { decide, type Decision } from "./decide.ts";
import {
  flagLayer,
  type Layer,
  NO_CONFIG,
  personaLayer,
  sessionLayer,
  withConfig,
} from "./layers.ts";
import { parentLayers } from "./parent-layers.ts";
import { parseCallPattern, splitRule } from "./rule.ts";

/** Where calls would run: in a session, or in one that is not stored yet. */
export interface CallPlace {
  readonly session: Pick<Session, "id" | "repo_path" | "parent_session_id"> | null;
  readonly repo_path: string | null;
  readonly persona_name: string;
  /** Of a session that is not stored; null for what the config says. */
  readonly mode: PermissionMode | null;
}

/** All that calls there are judged by. */
export interface Judgement {
  readonly tools: ToolSet;
  readonly mode: PermissionMode;
  readonly below: readonly Layer[];
  readonly user: readonly Layer[];
  readonly restricting: readonly Layer[];
  readonly protected: readonly ProtectedPath[];
}

/** Error codes: as `loadPersona`, `config_invalid`, `database_*`. */
export async function readJudgement(
  {
    store,
    personas,
    permission,
    settings,
    tools = BUILT_IN_TOOLS,
  }: Pick<ExchangerConfig, "store" | "personas" | "permission" | "settings" | "tools">,
  { session, repo_path: repoPath, persona_name: name, mode }: CallPlace,
): Promise<Judgement> {
  const stored = session === null ? null : await store.read(readPermissions, session);
  const persona = await loadPersona({ ...personas, tools, name, repoPath });
  const rules = stored?.rules ?? [];
  const exchanges = [...new Set(rules.map(({ n }) => n))].filter((n) => n !== null);
  const configured = await settings?.at(repoPath);
  const repository = await repositoryConfig(repoPath, personas.trust);
  const config = configured?.permission ?? NO_CONFIG;
  const user = [
    sessionLayer(rules, null, tools),
    ...exchanges.map((n) => ({
      ...sessionLayer(
        rules.filter((rule) => rule.n === n),
        n,
        tools,
      ),
      name: `exchange ${n}`,
    })),
    flagLayer(permission?.allow ?? [], tools),
  ];
  return {
    tools,
    ...withConfig(config, { mode: stored?.mode ?? mode ?? config.mode ?? "ask", user }),
    protected: [...(configured?.protected ?? []), ...repository.protected],
    restricting: [
      personaLayer(persona, tools),
      ...(session === null || session.parent_session_id === null
        ? []
        : await parentLayers({ store, personas: { ...personas, tools } }, session, tools)),
      ...repository.layers,
    ],
  };
}

/**
 * What would be decided about a call, written as `tool`, `tool(path)` or `run_command(line)`. Rules for one
 * exchange do not count.
 *
 * Error codes: `invalid_usage`, as `readJudgement`.
 */
export async function explainCall(
  config: Pick<
    ExchangerConfig,
    | "store"
    | "personas"
    | "permission"
    | "protectedPaths"
    | "settings"
    | "sandbox"
    | "env"
    | "tools"
  >,
  place: CallPlace,
  text: string,
): Promise<Decision> {
  const { tool: name, pattern: given } = splitRule(text);
  const { tools = BUILT_IN_TOOLS } = config;
  parseCallPattern(name, tools);
  const tool = tools.get(name);
  const example = exampleOf(tool);
  if ((example !== null) !== (given !== null && given.trim() !== "")) {
    throw new RepriseError(
      "invalid_usage",
      example === null
        ? `${name} works on no file; leave the path out.`
        : `Say on what it works too: ${name}(${example}).`,
    );
  }
  const judgement = await readJudgement(config, place);
  const user = judgement.user.filter(({ name }) => !name.startsWith("exchange "));
  const asks = config.permission?.asks ?? true;
  const call = await callOf(config, place, { tool, given, configured: judgement.protected });
  return typeof call === "string"
    ? { effect: "deny", layer: "fixed limit", rule: call, reason: NOT_THERE[call] }
    : decide({ ...judgement, user, call, asks });
}

const NOT_THERE = {
  "no file tools": "the session has no folder, or one in which no file tools are given",
  "no commands":
    "the session has no folder, or one whose files direct programs and which is not trusted",
} as const;

async function callOf(
  config: Pick<ExchangerConfig, "personas" | "protectedPaths" | "sandbox" | "env">,
  place: CallPlace,
  {
    tool,
    given,
    configured,
  }: {
    readonly tool: Tool;
    readonly given: string | null;
    readonly configured: readonly ProtectedPath[];
  },
): Promise<Call | keyof typeof NOT_THERE> {
  if (tool.about === "commands") {
    const { trust } = config.personas;
    return (await mayRunCommands(await workFolder(place.repo_path, trust), trust))
      ? {
          tool,
          file: null,
          command: { parts: plainParts(given ?? ""), place: await commandPlace(config) },
        }
      : "no commands";
  }
  const file =
    given === null ? null : await fileOf(config, place, { tool, path: given, configured });
  return file === "none" ? "no file tools" : { tool, file, command: null };
}

/** How a command would run that does not ask for more. */
async function commandPlace({
  sandbox,
}: Pick<ExchangerConfig, "sandbox">): Promise<"sandbox" | "none"> {
  const found = await sandbox?.probe();
  return (found?.bubblewrap ?? null) === null ? "none" : "sandbox";
}

function exampleOf({ about }: Tool): string | null {
  if (about === "commands") {
    return "npm test";
  }
  return about === "files" ? "src/main.ts" : null;
}

async function fileOf(
  { personas, protectedPaths, env }: Pick<ExchangerConfig, "personas" | "protectedPaths" | "env">,
  { repo_path }: CallPlace,
  {
    configured,
    ...call
  }: {
    readonly tool: Tool;
    readonly path: string;
    readonly configured: readonly ProtectedPath[];
  },
) {
  const { path: repoPath } = await workFolder(repo_path, personas.trust);
  if (repoPath === null) {
    return "none";
  }
  const [linked, found] = [createLinkSearch(), createControlSearch({ home: homedir(), env })];
  const sandbox = await resolveSandbox({ repoPath, protectedPaths, configured, linked, found });
  const { file } = await locate(sandbox, call);
  return file;
}
