import type { ToolSet } from "../../core/tools.ts";
import {
  ASK_USER,
  DELEGATE,
  EDIT_FILE,
  FIND_FILES,
  LIST_FILES,
  READ_FILE,
  RUN_COMMAND,
  SEARCH_FILES,
  UPDATE_TASKS,
  WRITE_FILE,
} from "../tools/built-in.ts";

/** Names of our tools in other programs. */
const EQUIVALENTS: Readonly<Record<string, string>> = {
  Read: READ_FILE.name,
  LS: LIST_FILES.name,
  Glob: FIND_FILES.name,
  Grep: SEARCH_FILES.name,
  Write: WRITE_FILE.name,
  Edit: EDIT_FILE.name,
  MultiEdit: EDIT_FILE.name,
  Bash: RUN_COMMAND.name,
  AskUserQuestion: ASK_USER.name,
  TodoWrite: UPDATE_TASKS.name,
};

/** Denied only: a persona of another program never gets it by such a name. */
const DELEGATING = ["Task", "Agent"];

/** Our name of a tool; null if there is none here. */
export function foreignTool(name: string, tools: ToolSet): string | null {
  return tools.has(name)
    ? name
    : Object.hasOwn(EQUIVALENTS, name)
      ? (EQUIVALENTS[name] ?? null)
      : null;
}

/** Returns the tool of a denial: in any spelling, and the whole tool for a part of it (`Write(src/**)`). */
export function deniedTool(name: string, tools: ToolSet): string | null {
  const whole = name.replace(/\(.*$/s, "").trim().toLowerCase();
  if (DELEGATING.some((known) => known.toLowerCase() === whole)) {
    return DELEGATE.name;
  }
  const known = [...tools.names, ...Object.keys(EQUIVALENTS)].find(
    (known) => known.toLowerCase() === whole,
  );
  return foreignTool(known ?? whole, tools);
}
