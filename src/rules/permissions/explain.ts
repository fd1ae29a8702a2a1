import { homedir } from "node:os";

import { RepriseError } from "../../core/errors.ts";
import type { Tool } from "../../core/tools.ts";
import { mayRunCommands } from "../trust/command-folder.ts";
import { plainParts } from "../../workspace/commands/plain-line.ts";
import { repositoryConfig } from "../config/repository.ts";
import type { Hook } from "../hooks/hook.ts";
import { hooksFor } from "../hooks/hook-match.ts";
import { toolNames } from "../hooks/tool-names.ts";
import type { SandboxSource } from "../../workspace/sandbox/probe.ts";
import { createLinkSearch } from "../../workspace/files/control-links.ts";
import { locate } from "../paths/resolve-path.ts";
import { resolveSandbox } from "../paths/sandbox.ts";
import type { PersonaFolders } from "../personas/folders.ts";
import { loadPersona } from "../personas/load.ts";
import { createControlSearch } from "../../workspace/places/found-control.ts";
import {
  APPLY_PATCH,
  BUILT_IN_TOOLS,
  EDIT_FILE,
  GIT_COMMIT,
  WRITE_FILE,
} from "../tools/built-in.ts";
import { workFolder, type WorkFolder } from "../trust/wide-folder.ts";
import type { Call } from "./call.ts";
import type { Decision } from "./decide.ts";
import { Judge, type JudgedPlace, type Judgement, type JudgeSource } from "./judge.ts";
import { parseCallPattern, splitRule } from "./rule.ts";

/** Where calls would run: in a session, or in one that is not stored yet. */
export interface CallPlace extends JudgedPlace {
  readonly persona_name: string;
}

/** Settings that decide where a call would run. */
interface PlaceSource {
  readonly personas: PersonaFolders;
  readonly protectedPaths: readonly string[];
  readonly sandbox?: SandboxSource;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Returns every rule that calls there are judged by. Error codes: as `loadPersona`, `config_invalid`, `database_*`. */
export async function readJudgement(source: JudgeSource, place: CallPlace): Promise<Judgement> {
  const { judge } = await openPlace(source, place);
  return judge.judgement();
}

/**
 * Explains what would be decided about a call, written as `tool`, `tool(path)` or `run_command(line)`. Rules for one
 * exchange do not count.
 *
 * Error codes: `invalid_usage`, as `readJudgement`.
 */
export async function explainCall(
  config: JudgeSource & PlaceSource,
  place: CallPlace,
  text: string,
): Promise<Decision> {
  const { tool: name, pattern: given } = splitRule(text);
  const { tools: known = BUILT_IN_TOOLS } = config;
  parseCallPattern(name, known);
  const tool = known.get(name);
  // a server that is absent brings its tool when it is there
  const tools = known.has(name) ? known : known.with([tool]);
  const example = exampleOf(tool);
  if ((example !== null) !== (given !== null && given.trim() !== "")) {
    throw new RepriseError(
      "invalid_usage",
      example === null
        ? `${name} works on no file; leave the path out.`
        : `Say on what it works too: ${name}(${example}).`,
    );
  }
  const opened = await openPlace({ ...config, tools }, place);
  const call = await callOf(config, opened, { tool, given });
  if (typeof call === "string") {
    return { effect: "deny", layer: "fixed limit", rule: call, reason: NOT_THERE[call] };
  }
  const decision = await opened.judge.decide(call, null);
  return call.needs?.includes(EDIT_FILE) === true
    ? withRemoval(decision, await opened.judge.decide({ ...call, needs: undefined }, null))
    : decision;
}

/** Returns the hooks that would run before and after a call, and runs none. Error codes: `config_invalid`. */
export async function explainHooks(
  { settings, personas }: Pick<JudgeSource, "settings" | "personas">,
  { repo_path }: Pick<CallPlace, "repo_path">,
  text: string,
): Promise<readonly Hook[]> {
  const names = toolNames(splitRule(text).tool);
  const own = (await settings?.at(repo_path))?.hooks ?? [];
  const ofFolder = (await repositoryConfig(repo_path, personas.trust)).hooks;
  return CALL_EVENTS.flatMap((event) => hooksFor([...own, ...ofFolder], event, names));
}

const CALL_EVENTS = ["PreToolUse", "PostToolUse"] as const;

/** Says of a patch to a file that is there what would happen if it deletes or moves the file, if that differs. */
function withRemoval(decision: Decision, removal: Decision): Decision {
  if (decision.effect === removal.effect) {
    return decision;
  }
  const { reason } = decision;
  const other = `to delete or move the file: ${removal.effect}`;
  return { ...decision, reason: reason === null ? other : `${reason}; ${other}` };
}

interface OpenedPlace {
  readonly judge: Judge;
  readonly folder: WorkFolder;
}

async function openPlace(
  source: JudgeSource,
  { persona_name: name, ...place }: CallPlace,
): Promise<OpenedPlace> {
  const { personas, settings, tools = BUILT_IN_TOOLS } = source;
  const { repo_path: repoPath } = place;
  const folder = await workFolder(repoPath, personas.trust);
  const judge = await Judge.open(source, place, {
    persona: await loadPersona({ ...personas, tools, name, repoPath }),
    folder,
    configured: await settings?.at(repoPath),
    repository: await repositoryConfig(repoPath, personas.trust),
  });
  return { judge, folder };
}

const NOT_THERE = {
  "no file tools": "the session has no folder, or one in which no file tools are given",
  "no commands":
    "the session has no folder, or one whose files direct programs and which is not trusted",
} as const;

async function callOf(
  config: PlaceSource,
  { judge, folder }: OpenedPlace,
  { tool, given }: { readonly tool: Tool; readonly given: string | null },
): Promise<Call | keyof typeof NOT_THERE> {
  const isCommand = tool.about === "commands";
  if (
    (isCommand || tool === GIT_COMMIT) &&
    !(await mayRunCommands(folder, config.personas.trust))
  ) {
    return "no commands";
  }
  if (isCommand) {
    const command = { parts: plainParts(given ?? ""), place: await commandPlace(config) };
    return { tool, file: null, command };
  }
  if (given === null) {
    return { tool, file: null, command: null };
  }
  const { path: repoPath } = folder;
  if (repoPath === null) {
    return "no file tools";
  }
  const { protectedPaths, env } = config;
  const [linked, found] = [createLinkSearch(), createControlSearch({ home: homedir(), env })];
  const configured = judge.protected;
  const sandbox = await resolveSandbox({ repoPath, protectedPaths, configured, linked, found });
  const { target, file } = await locate(sandbox, { path: given, tool });
  // a patch adds a file that is not there, and changes one that is
  const needs =
    tool === APPLY_PATCH ? [(target?.stat ?? null) === null ? WRITE_FILE : EDIT_FILE] : undefined;
  return { tool, file, command: null, needs };
}

/** How a command would run that does not ask for more. */
async function commandPlace({
  sandbox,
}: Pick<PlaceSource, "sandbox">): Promise<"sandbox" | "none"> {
  const found = await sandbox?.probe();
  return (found?.bubblewrap ?? null) === null ? "none" : "sandbox";
}

function exampleOf({ about }: Tool): string | null {
  if (about === "commands") {
    return "npm test";
  }
  return about === "files" ? "src/main.ts" : null;
}
