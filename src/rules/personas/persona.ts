import type { Effort, Fallback } from "../../core/model-settings.ts";
import type { McpEntries } from "../servers/server.ts";

/** Who answers in sessions that name nobody. */
export const DEFAULT_PERSONA = "assistant";

/** Where a persona was found, in search order. */
export type PersonaSource = "repository" | "user" | "built-in";

/** A named role: a prompt, a model, a set of tools. */
export interface Persona {
  readonly name: string;
  /** Line for the person who chooses; empty if the file has none. */
  readonly description: string;
  /** `provider:model`, or null for the session's or the default one. */
  readonly model: string | null;
  /** How much the model reasons; null for the session's or the default. One of a repository does not count. */
  readonly effort: Effort | null;
  /** Models that answer in the place of one that cannot; null for the session's or the default. As for the effort. */
  readonly fallback: Fallback | null;
  /** Names of the tools it gets; null for all. */
  readonly tools: readonly string[] | null;
  /** MCP servers that are used while it answers. Those of a repository only if they were shown. */
  readonly servers: McpEntries;
  readonly prompt: string;
  readonly source: PersonaSource;
  /** Its file: relative to the repository, or as the folder was given. */
  readonly path: string;
  /** Parts of a file written for another program that were left out, each a sentence. */
  readonly notes: readonly string[];
}

/** A persona file that cannot be used; its name is taken from the file's. */
export interface BrokenPersona {
  readonly name: string;
  readonly source: PersonaSource;
  readonly path: string;
  /** Problem and its line, for a person. */
  readonly fault: string;
}

export type PersonaEntry = Persona | BrokenPersona;

export function isBroken(entry: PersonaEntry): entry is BrokenPersona {
  return "fault" in entry;
}
