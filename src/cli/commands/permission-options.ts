import type { Asking } from "../../core/questions.ts";
import { isServerTool } from "../../core/tools.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../core/permissions.ts";
import { parseCallPattern, ruleText } from "../../rules/permissions/rule.ts";
import { BUILT_IN_TOOLS } from "../../rules/tools/built-in.ts";
import { wrongUsage } from "../process/wrong-usage.ts";

export const PERMISSION_HELP =
  "what needs a question: each change and command (ask, the default), commands only (edits), commands outside a sandbox (auto), nothing (all); plan changes nothing. `-p` scripts that write need edits";

const WITHOUT_QUESTIONS =
  "To let the agent change files in its folder without a question, use --permission edits; with auto it also runs commands in a sandbox. To let it run a command, use --allow, such as --allow 'run_command(npm test)'.";

/** Said of an exchange without a terminal that waits for a permission: what would have spared its questions. */
export function withoutQuestions(open: readonly Pick<Asking, "permission">[]): readonly string[] {
  const asked = open.flatMap(({ permission }) => permission?.tool ?? []);
  const ofServers = [...new Set(asked.filter(isServerTool))];
  return [
    ...(ofServers.length < asked.length ? [WITHOUT_QUESTIONS] : []),
    ...(ofServers.length === 0
      ? []
      : [
          `To let it call a tool of an MCP server without a question, use ${ofServers.map((tool) => `--allow ${tool}`).join(" ")}, or \`permission.allow\` of your config.`,
        ]),
  ];
}

/** Reads `--permission`. Error codes: `invalid_usage`. */
export function permissionMode(text: string): PermissionMode {
  const mode = PERMISSION_MODES.find((each) => each === text);
  if (mode === undefined) {
    throw wrongUsage(`--permission takes one of ${PERMISSION_MODES.join(", ")}.`);
  }
  return mode;
}

/** Reads one `--allow`. Error codes: `invalid_usage`. */
export function addAllowed(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ruleText(parseCallPattern(text, BUILT_IN_TOOLS))];
}
