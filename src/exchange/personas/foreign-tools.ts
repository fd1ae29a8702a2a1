import { AGENT_TOOLS } from "../tool-catalogue.ts";

/** What other programs call our tools. */
const EQUIVALENTS: Readonly<Record<string, string>> = {
  Read: "read_file",
  LS: "list_files",
  Glob: "find_files",
  Grep: "search_files",
  Write: "write_file",
  Edit: "edit_file",
  MultiEdit: "edit_file",
  Bash: "run_command",
  AskUserQuestion: "ask_user",
};

/** Denied only: a persona of another program never gets it by such a name. */
const DELEGATING = ["Task", "Agent"];

/** Our name of a tool; null if there is none here. */
export function foreignTool(name: string): string | null {
  const own = AGENT_TOOLS.find((tool) => tool.name === name)?.name;
  return own ?? (Object.hasOwn(EQUIVALENTS, name) ? (EQUIVALENTS[name] ?? null) : null);
}

/** The same for a denial: in any spelling, and the whole tool for a part of it (`Write(src/**)`). */
export function deniedTool(name: string): string | null {
  const whole = name.replace(/\(.*$/s, "").trim().toLowerCase();
  if (DELEGATING.some((known) => known.toLowerCase() === whole)) {
    return "delegate";
  }
  const known = Object.keys(EQUIVALENTS).find((known) => known.toLowerCase() === whole);
  return foreignTool(known ?? whole);
}
