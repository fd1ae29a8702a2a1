import type { GivenRule, PermissionMode } from "../../core/permissions.ts";
import { AGENT_TOOLS, GIT_COMMIT, RUN_COMMAND, SESSION_TOOLS } from "../tool-catalogue.ts";
import { isHarmless } from "./call.ts";
import { parseCallPattern, type Rule } from "./rule.ts";

/** Rules of one origin. */
export interface Layer {
  /** Where the rules come from, for a person. */
  readonly name: string;
  readonly rules: readonly Rule[];
  /** True for the user's config: what it denies, only a later layer of it allows again. */
  readonly isConfig?: true;
}

const CHANGING = SESSION_TOOLS.filter(({ repeatable }) => !repeatable).map(({ name }) => name);

function rulesFor(effect: Rule["effect"], tools: readonly string[]): Rule[] {
  return tools.map((tool) => ({ effect, tool, pattern: null }));
}

/** What is true without any other rule: reading is allowed, and everything else asks. */
export const BUILT_IN: Layer = {
  name: "built-in",
  rules: [
    { effect: "ask", tool: "*", pattern: null },
    ...rulesFor("allow", AGENT_TOOLS.map(({ name }) => name).filter(isHarmless)),
    ...rulesFor("ask", [...CHANGING, RUN_COMMAND, GIT_COMMIT]),
  ],
};

const OF_MODES: Readonly<Record<PermissionMode, readonly Rule[]>> = {
  ask: [],
  plan: [],
  edits: rulesFor("allow", CHANGING),
  auto: [
    ...rulesFor("allow", CHANGING),
    { effect: "allow", tool: RUN_COMMAND, pattern: null, isSandboxed: true },
  ],
  all: rulesFor("allow", ["*"]),
};

/** The rules of a mode. */
export function modeLayer(mode: PermissionMode): Layer {
  return { name: `mode ${mode}`, rules: OF_MODES[mode] };
}

/** What the user's config says about permissions in a folder. */
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

/** What a person allowed in the session, as far as it counts in this exchange. */
export function sessionLayer(given: readonly GivenRule[], n: number | null): Layer {
  const counting = given.filter((rule) => rule.n === null || rule.n === n);
  return { name: "session", rules: counting.map(({ rule }) => allowing(rule)) };
}

/** The rules of `--allow`. Error codes: `invalid_usage`. */
export function flagLayer(allowed: readonly string[]): Layer {
  return { name: "--allow", rules: allowed.map(allowing) };
}

function allowing(text: string): Rule {
  return { effect: "allow", ...parseCallPattern(text) };
}

/** Denies the tools that a persona does not have. `names` are all tools of the session. */
export function personaLayer(
  { name, tools }: { readonly name: string; readonly tools: readonly string[] | null },
  names: readonly string[],
): Layer {
  const denied = tools === null ? [] : names.filter((tool) => !tools.includes(tool));
  return { name: `persona ${name}`, rules: rulesFor("deny", denied) };
}

/** Denies a sub-agent what the session that began it may not do. `names` as of `personaLayer`. */
export function parentLayer(
  parent: {
    /** Null if the persona cannot be read any more: the sub-agent then only reads. */
    readonly persona: Parameters<typeof personaLayer>[0] | null;
    readonly plan_mode: boolean;
  },
  names: readonly string[],
): Layer {
  const changing = names.filter((tool) => !isHarmless(tool));
  return {
    name: "parent session",
    rules: [
      ...(parent.persona === null ? [] : personaLayer(parent.persona, names).rules),
      ...rulesFor("deny", parent.plan_mode || parent.persona === null ? changing : []),
    ],
  };
}
