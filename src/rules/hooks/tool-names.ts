import { isServerTool } from "../../core/tools.ts";
import {
  APPLY_PATCH,
  ASK_USER,
  DELEGATE,
  EDIT_FILE,
  FIND_FILES,
  LIST_FILES,
  MULTI_EDIT,
  READ_FILE,
  RUN_COMMAND,
  SEARCH_FILES,
  UPDATE_TASKS,
  WRITE_FILE,
} from "../tools/built-in.ts";

/**
 * Names of our tools in Claude Code: "Tools available to Claude" of its settings. A tool that changes several files is
 * those that would do the same for one.
 */
const NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  [RUN_COMMAND.name, ["Bash"]],
  [READ_FILE.name, ["Read"]],
  [LIST_FILES.name, ["LS"]],
  [FIND_FILES.name, ["Glob"]],
  [SEARCH_FILES.name, ["Grep"]],
  [WRITE_FILE.name, ["Write"]],
  [EDIT_FILE.name, ["Edit"]],
  [MULTI_EDIT.name, ["MultiEdit", "Edit"]],
  [APPLY_PATCH.name, ["Edit", "Write"]],
  [DELEGATE.name, ["Task", "Agent"]],
  [ASK_USER.name, ["AskUserQuestion"]],
  [UPDATE_TASKS.name, ["TodoWrite"]],
]);

/** Returns the names by which hooks match a tool: its own, then those of Claude Code. */
export function toolNames(name: string): readonly [own: string, ...others: string[]] {
  return [name, ...(NAMES.get(name) ?? (isServerTool(name) ? [`mcp__${name}`] : []))];
}
