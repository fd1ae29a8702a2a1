import { visibleJson } from "../../core/text/terminal-text.ts";

/**
 * The arguments of a call of `run_command` for a person: a line as it is, and words so that one sees where each
 * ends. A word of other characters than those of most words is a JSON string. Empty for other arguments.
 */
export function shownCommand(args: unknown): string {
  if (typeof args !== "object" || args === null) {
    return "";
  }
  const argv: unknown = Reflect.get(args, "argv");
  const line: unknown = Reflect.get(args, "line");
  if (typeof line === "string") {
    return line;
  }
  return Array.isArray(argv) ? argv.map(shownWord).join(" ") : "";
}

function shownWord(given: unknown): string {
  const word = typeof given === "string" ? given : (JSON.stringify(given) ?? "");
  return /^[\w@%+=:,./-]+$/.test(word) ? word : visibleJson(JSON.stringify(word));
}
