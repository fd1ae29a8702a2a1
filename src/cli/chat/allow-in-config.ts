import { isRepriseError } from "../../core/errors.ts";
import { type Choice, lastingRules, type PermissionChoice } from "../../core/questions.ts";
import { quoted } from "../../core/text/shell-words.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import { isServerTool } from "../../core/tools.ts";
import { folderChoice } from "../../core/text/words.ts";
import { BUILT_IN_TOOLS } from "../../rules/tools/built-in.ts";
import type { OpenQuestion } from "../../store/records/questions/read.ts";
import { configFile, configPlace } from "../process/config.ts";
import { type CliContext, noticeLine } from "../process/context.ts";
import type { GivenAnswer } from "../output/question-lines.ts";

/** A question with what a terminal offers besides its choices. */
export interface Offered {
  /** The choices of the question, and after them `allow_folder` if it is offered. */
  readonly choices: readonly Choice[] | null;
  /** Rule that this choice writes into the config; null if it is not offered. */
  readonly grant: { readonly rule: string; readonly folder: string } | null;
}

/** Offers to allow a call in the config too, if the session could keep one rule for it. */
export function offeredChoices(
  cli: CliContext,
  { choices, permission }: Pick<OpenQuestion, "choices" | "permission">,
  folder: string | null,
): Offered {
  const [rule, ...others] = lastingRules(choices) ?? [];
  const tool = permission?.tool ?? "";
  // your config refuses the name of a tool that only the program has
  const isKnown = BUILT_IN_TOOLS.has(tool) || isServerTool(tool);
  return !isKnown ||
    choices === null ||
    rule === undefined ||
    others.length > 0 ||
    folder === null ||
    configFile(cli) === null
    ? { choices, grant: null }
    : { choices: [...choices, folderChoice(rule)], grant: { rule, folder } };
}

/** The line of the choice, with the folder. */
export function grantLine({ choices, grant }: Offered): string[] {
  const label = choices?.at(-1)?.label ?? "";
  return grant === null
    ? []
    : [`  ${choices?.length}. ${label}: ${oneLine(grant.folder)} (in your config)`];
}

/** How a person takes back an answer that counts for longer than its call; null for another answer. */
export function takeBackLine(
  { choice }: Pick<GivenAnswer, "choice">,
  { choices }: Pick<OpenQuestion, "choices">,
): string | null {
  const rules = choices?.find(({ id }) => id === choice)?.lasting ?? null;
  if (rules === null) {
    return null;
  }
  const [only = ""] = rules;
  const named = rules.length === 1 ? oneLine(only) : "with a rule of `/permission`";
  return `To take that back: /permission remove ${named}`;
}

const IN_FOLDER: PermissionChoice = "allow_folder";
const ONCE: PermissionChoice = "allow_once";

/**
 * Returns what is stored as the answer: a further choice is written into the config first, and then allows this call.
 * Null if that failed; the reason is shown.
 */
export async function storedAnswer(
  cli: CliContext,
  answer: GivenAnswer,
  { grant }: Offered,
): Promise<GivenAnswer | null> {
  if (answer.choice !== IN_FOLDER || grant === null) {
    return answer;
  }
  const { allowInFolder } = await import("../../rules/config/set-value.ts");
  try {
    await allowInFolder(configPlace(cli), grant);
  } catch (error) {
    if (!isRepriseError(error)) {
      throw error;
    }
    noticeLine(cli, `${error.message} The question stays open.`);
    return null;
  }
  noticeLine(
    cli,
    `Your config allows ${oneLine(grant.rule)} in ${oneLine(grant.folder)}. To take that back, run there: reprise permission remove config ${quoted(oneLine(grant.rule))}`,
  );
  return { ...answer, choice: ONCE };
}
