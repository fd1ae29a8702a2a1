import { isServerTool, type ToolSet } from "../../core/tools.ts";
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

/** Tools of servers as Claude Code names them: "Tool naming" of code.claude.com/docs/en/mcp. */
const OF_SERVERS = "mcp__";

/** Our name of a tool; null if there is none here. A server of it may be absent. */
export function foreignTool(name: string, tools: ToolSet): string | null {
  const ofServer = name.startsWith(OF_SERVERS) ? name.slice(OF_SERVERS.length) : "";
  if (isServerTool(ofServer)) {
    return ofServer;
  }
  return tools.has(name)
    ? name
    : Object.hasOwn(EQUIVALENTS, name)
      ? (EQUIVALENTS[name] ?? null)
      : null;
}

/**
 * Returns the tools of servers that a denial is for, as `server` for all of one, or `server__tool`; null for a denial of
 * something else. In any spelling, and with `*` at the end.
 */
export function deniedOfServers(name: string): string | null {
  const whole = name.trim();
  return whole.toLowerCase().startsWith(OF_SERVERS)
    ? whole.slice(OF_SERVERS.length).replace(/(?:__)?\*$/, "")
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
  return known === undefined ? null : foreignTool(known, tools);
}
