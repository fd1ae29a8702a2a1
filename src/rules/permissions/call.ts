import type { ControlFile } from "../../core/files/control-file-table.ts";
import { controlFileIn } from "../../core/files/control-files.ts";
import { type SecretFile, secretFileIn } from "../../core/files/secret-files.ts";
import type { FoundControl } from "../../workspace/places/found-control.ts";
import { isHarmless, type Tool } from "../../core/tools.ts";

/** A file or folder that a call names. */
export interface CalledFile {
  /** Its names relative to the session's folder, `.` for that: as the call writes it, and the real one. */
  readonly paths: readonly string[];
  /** Paths from the root of the file system, name by name, and names that links give it. */
  readonly names: readonly (readonly string[])[];
  /**
   * `outside`: not in the session's folder. `own`: a file of Reprise itself, such as its database. `protected`: by
   * the user's config or that of the folder.
   */
  readonly place: "inside" | "outside" | "own" | "protected";
  /** Place that other programs execute or obey although its names do not say so. */
  readonly found?: FoundControl | null;
}

/** A command that a call runs. */
export interface CalledCommand {
  /** The words of each command of a line; null for a line that only a shell can read: see `plainParts`. */
  readonly parts: readonly (readonly string[])[] | null;
  /**
   * How it runs: `none` if there is no sandbox, `sandbox` without a network, `network` in the sandbox with one,
   * and `outside` of the sandbox although there is one.
   */
  readonly place: "none" | "sandbox" | "network" | "outside";
}

/** A call of a tool, as far as permissions depend on it. */
export interface Call {
  readonly tool: Tool;
  /** Null for a tool that works on no file. */
  readonly file: CalledFile | null;
  /** Null for a tool that runs none. */
  readonly command: CalledCommand | null;
  /** Tools that do the same to this file as a composed tool; without it, all of them. */
  readonly needs?: readonly Tool[];
}

/** The commands of a line as separate calls; the call itself if it has one command, or none that is known. */
export function commandsOf(call: Call): readonly Call[] {
  const { command } = call;
  return command === null || command.parts === null
    ? [call]
    : command.parts.map((part) => ({ ...call, command: { ...command, parts: [part] } }));
}

/** Returns the file that other programs execute or obey, if the call would change one, under one of its names. */
export function controlFileOf(
  { tool, file }: Call,
  rule?: ControlFile["rule"],
): ControlFile | null {
  const named = isHarmless(tool) ? [] : (file?.names ?? []);
  return named.map((names) => controlFileIn(names, rule)).find((found) => found !== null) ?? null;
}

/** Returns the place that another file names, such as git's configuration; null if its own name protects it. */
export function foundControlOf(call: Call): FoundControl | null {
  const { tool, file } = call;
  return isHarmless(tool) || controlFileOf(call) !== null ? null : (file?.found ?? null);
}

/** Returns the file that often holds secrets, if the call would read or change one, under one of its names. */
export function secretFileOf({ tool, file }: Pick<Call, "tool" | "file">): SecretFile | null {
  const named = tool.readsNamesOnly === true ? [] : (file?.names ?? []);
  return named.map(secretFileIn).find((found) => found !== null) ?? null;
}
