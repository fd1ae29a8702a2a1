import { controlFileIn, spellingKey } from "../../core/files/control-files.ts";
import { RepriseError } from "../../core/errors.ts";
import { createNearestName } from "../../core/text/nearest-name.ts";
import { secretFileIn } from "../../core/files/secret-files.ts";
import { isServerTool, isToolName, type Tool, ToolSet } from "../../core/tools.ts";
import { plainLine, plainParts } from "../../workspace/commands/plain-line.ts";
import { safePrefix } from "../../workspace/commands/safe-prefix.ts";
import {
  type Call,
  type CalledCommand,
  controlFileOf,
  foundControlOf,
  secretFileOf,
} from "./call.ts";
import { isMatch } from "./path-pattern.ts";
import type { FoundControl } from "../../workspace/places/found-control.ts";

/** From the mildest to the strictest. */
export const EFFECTS = ["allow", "ask", "deny"] as const;
export type Effect = (typeof EFFECTS)[number];

/** The calls that a rule is about: `tool` or `tool(pattern)`. */
export interface CallPattern {
  /** `*` for every tool, `*__*` for every tool of a server; no text of a rule has them. */
  readonly tool: string;
  /**
   * Pattern of a file's path below the session's folder, null for every file: `**` for any folders, `*` and `?` for
   * characters of one name, also of one that begins with a dot; a backslash makes the next one ordinary. Of a command
   * its first words, as `plainLine` writes them.
   */
  readonly pattern: string | null;
}

export interface Rule extends CallPattern {
  readonly effect: Effect;
  /** True for a rule about commands in the sandbox alone, without a network. */
  readonly isSandboxed?: true;
  /** Names of tools that a rule about every tool of a server is not about. */
  readonly except?: readonly string[];
}

/** In a rule about every tool of a server. */
export const SERVER_TOOLS = "*__*";

const MAX_RULE = 4096;

/**
 * Reads `tool` or `tool(pattern)`, for a tool that is there or one of a server, which may be absent. Error codes:
 * `invalid_usage`.
 */
export function parseCallPattern(text: string, tools: ToolSet): CallPattern {
  const rule = splitRule(text);
  if (!tools.has(rule.tool) && !isServerTool(rule.tool)) {
    const nearest = createNearestName(tools.names)(rule.tool);
    throw unreadable(
      `There is no tool of this name; ${nearest === undefined ? `the tools are ${tools.names.join(", ")}` : `write ${nearest}, if you mean that one`}.`,
    );
  }
  return withPattern(rule, tools);
}

/** Reads a rule that was stored, also of a tool that is not there now. Error codes: `invalid_usage`. */
export function readRule(text: string, tools: ToolSet): CallPattern {
  return withPattern(splitRule(text), tools);
}

/** The name of a tool, and what is in the parentheses after it; null without parentheses. Error codes: `invalid_usage`. */
export function splitRule(text: string): CallPattern {
  const [, tool = "", , pattern = null] = /^([^()\s]+)(\((.*)\))?$/s.exec(text.trim()) ?? [];
  if (!isToolName(tool) || text.length > MAX_RULE) {
    throw unreadable("A rule is `tool` or `tool(pattern)`, such as `write_file(src/**)`.");
  }
  return { tool, pattern };
}

function withPattern({ tool, pattern }: CallPattern, tools: ToolSet): CallPattern {
  const { about } = tools.get(tool);
  if (pattern === null) {
    return { tool, pattern };
  }
  if (about === undefined) {
    throw unreadable(`${tool} works on no file, so its rule takes no pattern.`);
  }
  return { tool, pattern: about === "commands" ? commandPattern(pattern) : parsePattern(pattern) };
}

/** Refuses what can be no pattern of a rule. Error codes: `invalid_usage`. */
export function parsePattern(pattern: string): string {
  if (!isPattern(pattern)) {
    throw unreadable(
      "A pattern is a path below the session's folder, without `..`, empty names and a slash at its beginning or end.",
    );
  }
  return pattern;
}

/** The first words of one command, in the one way of writing them. */
function commandPattern(text: string): string {
  const [words = [], ...others] = plainParts(text) ?? [];
  const pattern = others.length === 0 ? plainLine(words) : null;
  if (pattern === null || pattern === "") {
    throw unreadable(
      "The pattern of run_command is the first words of one command, such as `run_command(npm test)`. Put a word with other characters than letters, digits and ./:=@%+,-_ into quotes.",
    );
  }
  return pattern;
}

function isPattern(pattern: string): boolean {
  return (
    !/[\0\n\r]/.test(pattern) &&
    !/(?<!\\)(?:\\\\)*\\$/.test(pattern) &&
    pattern.split("/").every((name) => name !== "" && name !== "." && name !== "..")
  );
}

function unreadable(message: string): RepriseError {
  return new RepriseError("invalid_usage", message);
}

/** Writes a rule that `parseCallPattern` gave as the text that it reads again. */
export function ruleText({ tool, pattern }: CallPattern): string {
  return pattern === null ? tool : `${tool}(${pattern})`;
}

/**
 * The rule about exactly this call, and about commands that begin as safely as this one; null if its text could
 * not be read again, or if as a permission it would not cover the call.
 */
export function ruleOf(call: Call): CallPattern | null {
  const prefix = call.command === null ? null : prefixOf(call.command);
  if (call.command !== null && prefix === null) {
    return null;
  }
  const real = call.file?.paths.at(-1)?.replace(/[\\*?]/g, "\\$&") ?? null;
  const rule = { tool: call.tool.name, pattern: prefix ?? real };
  try {
    const read = parseCallPattern(ruleText(rule), new ToolSet([call.tool]));
    return matches({ ...read, effect: "allow" }, call) ? read : null;
  } catch {
    return null;
  }
}

/** The one prefix for all commands of a line; null if there is none. */
function prefixOf({ parts }: CalledCommand): string | null {
  const prefixes = (parts ?? []).map((words) => plainLine(safePrefix(words) ?? []));
  const [prefix = null] = prefixes;
  return prefixes.every((other) => other === prefix) ? prefix : null;
}

/** Effect of a rule on a call. */
export interface RuleEffect {
  readonly effect: Effect;
  /** False if nobody knows whether the rule is about the call. */
  readonly isSure: boolean;
}

/**
 * Null for a rule that is not about the call. What a rule does not allow may be hidden in a line that only a shell
 * can read: a rule against some commands asks about each such line.
 */
export function effectOn(rule: Rule, call: Call): RuleEffect | null {
  if (matches(rule, call)) {
    return { effect: rule.effect, isSure: true };
  }
  const mayBeHidden = rule.tool === call.tool.name && call.command?.parts === null;
  return mayBeHidden && rule.effect !== "allow" ? { effect: "ask", isSure: false } : null;
}

type AboutTools = Pick<Rule, "tool" | "effect" | "except">;

/** A rule that allows counts for a composed tool only if it could do nothing else with the same rule. */
function isAbout({ tool, effect, except = [] }: AboutTools, called: Tool): boolean {
  const { name, composedOf = [] } = called;
  return (
    tool === "*" ||
    (tool === SERVER_TOOLS && isServerTool(name) && !except.includes(name)) ||
    tool === name ||
    (composedOf.some((part) => part.name === tool) &&
      (effect !== "allow" || composedOf.length === 1))
  );
}

/**
 * Whether a rule is about a call. One that allows has to match every name of the file, exactly, and name what
 * is protected; the others match if one name does, in any spelling that some file system takes for the same. The
 * same is true of the commands of a line, whose program the others find in any folder. No rule about commands allows
 * one to leave the sandbox.
 */
export function matches(rule: Rule, call: Call): boolean {
  if (!isAbout(rule, call.tool)) {
    return false;
  }
  const { tool, pattern, effect, isSandboxed } = rule;
  const { file, command } = call;
  if (command !== null) {
    const { place } = command;
    const isLeaving = place === "network" || place === "outside";
    if (
      (isSandboxed === true && place !== "sandbox") ||
      (isLeaving && effect === "allow" && tool !== "*")
    ) {
      return false;
    }
    return pattern === null || isCommandMatch(pattern, effect, command);
  }
  if (effect !== "allow") {
    return (
      pattern === null || file?.paths.some((path) => isMatch(pattern, path, spellingKey)) === true
    );
  }
  const [control, found, secret, named] = [
    controlFileOf(call),
    foundControlOf(call),
    secretFileOf(call),
    pattern?.split("/") ?? [],
  ];
  if (
    (control !== null && controlFileIn(named) !== control) ||
    (secret !== null && secretFileIn(named) !== secret) ||
    (found !== null && !namesFound(pattern, found))
  ) {
    return false;
  }
  return pattern === null || file?.paths.every((path) => isMatch(pattern, path, asIs)) === true;
}

/** True for a pattern that begins with the place itself, such as `tools/hooks/**`. */
function namesFound(pattern: string | null, { name }: FoundControl): boolean {
  const plain = pattern?.replace(/\\(.)/g, "$1") ?? "";
  return plain === name || plain.startsWith(`${name}/`);
}

/**
 * Whether a pattern covers a path or a folder above it, in any spelling that some file system takes for the
 * same. A pattern without a slash covers a name at every depth.
 */
export function covers(pattern: string, path: string): boolean {
  const names = path.split("/");
  return pattern.includes("/")
    ? names.some((_, at) => isMatch(pattern, names.slice(0, at + 1).join("/"), spellingKey))
    : names.some((name) => isMatch(pattern, name, spellingKey));
}

function isCommandMatch(pattern: string, effect: Effect, { parts }: CalledCommand): boolean {
  const [words = []] = plainParts(pattern) ?? [];
  const begins = (part: readonly string[]): boolean =>
    words.length > 0 && words.every((word, at) => word === part[at]);
  if (parts === null || parts.length === 0) {
    return false;
  }
  return effect === "allow"
    ? parts.every(begins)
    : parts.some((part) => begins(part) || begins(withoutFolder(part)));
}

function withoutFolder([program = "", ...others]: readonly string[]): readonly string[] {
  return [program.split("/").at(-1) ?? "", ...others];
}

function asIs(name: string): string {
  return name;
}
