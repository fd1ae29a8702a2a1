import type { GivenRule, PermissionMode } from "../../core/permissions.ts";
import { isHarmless, type Tool, type ToolSet } from "../../core/tools.ts";
import { parseCallPattern, readRule, type Rule, SERVER_TOOLS } from "./rule.ts";

/** Rules of one origin. */
export interface Layer {
  /** Where the rules come from, for a person. */
  readonly name: string;
  readonly rules: readonly Rule[];
  /** True for the user's config: what it denies, only a later layer of it allows again. */
  readonly isConfig?: true;
}

function rulesFor(effect: Rule["effect"], tools: Iterable<Pick<Tool, "name">>): Rule[] {
  return [...tools].map(({ name }) => ({ effect, tool: name, pattern: null }));
}

const EVERY_TOOL = { name: "*" };

/** Name of the layer of the program's own rules. */
export const BUILT_IN_LAYER = "built-in";

/** Makes the layer below all others: reading is allowed, and everything else asks. */
export function builtInLayer(tools: ToolSet): Layer {
  return {
    name: BUILT_IN_LAYER,
    rules: [
      ...rulesFor("ask", [EVERY_TOOL]),
      ...rulesFor("allow", [...tools].filter(isHarmless)),
      ...rulesFor(
        "ask",
        [...tools].filter((tool) => !isHarmless(tool)),
      ),
    ],
  };
}

/** The tools that change files of the session's folder. */
export function editingTools(tools: ToolSet): readonly Tool[] {
  return [...tools].filter((tool) => tool.about === "files" && !isHarmless(tool));
}

/** The rules of a mode. */
export function modeLayer(mode: PermissionMode, tools: ToolSet): Layer {
  return { name: `mode ${mode}`, rules: rulesOfMode(mode, tools) };
}

function rulesOfMode(mode: PermissionMode, tools: ToolSet): readonly Rule[] {
  switch (mode) {
    case "ask":
    case "plan":
      return [];
    case "edits":
      return rulesFor("allow", editingTools(tools));
    case "auto": {
      const commands = [...tools].filter(({ about }) => about === "commands");
      return [
        ...rulesFor("allow", editingTools(tools)),
        ...rulesFor("allow", commands).map((rule) => ({ ...rule, isSandboxed: true }) as const),
      ];
    }
    case "all":
      return rulesFor("allow", [EVERY_TOOL]);
  }
}

/** Permissions that the user's config gives in a folder. */
export interface ConfigPermission {
  /** The mode that new sessions get; null if it names none. */
  readonly mode: PermissionMode | null;
  /** For all folders, and for those that the folder is in, the outer ones first. */
  readonly layers: readonly Layer[];
}

export const NO_CONFIG: ConfigPermission = { mode: null, layers: [] };

/**
 * The user's layers around the mode of the session: the config's are weaker than a mode that a person chose, but
 * not than the config's own.
 */
export function withConfig(
  config: ConfigPermission,
  { mode, user }: { readonly mode: PermissionMode; readonly user: readonly Layer[] },
): {
  readonly mode: PermissionMode;
  readonly below: readonly Layer[];
  readonly user: readonly Layer[];
} {
  return mode === config.mode
    ? { mode, below: [], user: [...config.layers, ...user] }
    : { mode, below: config.layers, user };
}

/** Makes the layer of what a person allowed in the session, as far as it counts in this exchange. */
export function sessionLayer(given: readonly GivenRule[], n: number | null, tools: ToolSet): Layer {
  const counting = given.filter((rule) => rule.n === null || rule.n === n);
  const rules = counting.map(({ rule }) => readRule(rule, tools));
  return { name: "session", rules: rules.map((rule) => ({ effect: "allow", ...rule })) };
}

/** The rules of `--allow`. Error codes: `invalid_usage`. */
export function flagLayer(allowed: readonly string[], tools: ToolSet): Layer {
  const rules = allowed.map((text) => parseCallPattern(text, tools));
  return { name: "--allow", rules: rules.map((rule) => ({ effect: "allow", ...rule })) };
}

/** Denies every tool of a server but these: nobody knows them all. */
function deniedServerTools(except: readonly string[]): Rule[] {
  return [{ effect: "deny", tool: SERVER_TOOLS, pattern: null, except }];
}

/** Denies the tools of a session that its persona does not have. */
export function personaLayer(
  persona: { readonly name: string; readonly tools: readonly string[] | null },
  tools: ToolSet,
): Layer {
  const denied = [...tools].filter(
    ({ name, isAssigned }) => isAssigned !== true && persona.tools?.includes(name) === false,
  );
  const ofServers =
    persona.tools === null ? [] : deniedServerTools([...persona.tools, ...tools.names]);
  return {
    name: `persona ${persona.name}`,
    rules: [...rulesFor("deny", denied), ...ofServers],
  };
}

/** Denies what could change a folder in which no tool may write, because of its name. */
export function readOnlyLayer(tools: ToolSet): Layer {
  const changing = [...tools].filter((tool) => !isHarmless(tool));
  return {
    name: "read-only folder",
    rules: [...rulesFor("deny", changing), ...deniedServerTools(tools.names)],
  };
}

/** Denies a sub-agent what the session that began it may not do. */
export function parentLayer(
  parent: {
    /** Null if the persona cannot be read any more: the sub-agent then only reads. */
    readonly persona: Parameters<typeof personaLayer>[0] | null;
    readonly plan_mode: boolean;
  },
  tools: ToolSet,
): Layer {
  const changing = [...tools].filter((tool) => !isHarmless(tool));
  return {
    name: "parent session",
    rules: [
      ...(parent.persona === null ? [] : personaLayer(parent.persona, tools).rules),
      ...(parent.plan_mode || parent.persona === null
        ? [...rulesFor("deny", changing), ...deniedServerTools(tools.names)]
        : []),
    ],
  };
}
