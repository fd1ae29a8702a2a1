import { isRepriseError } from "../core/errors.ts";
import { ALLOW_IN_CONFIG, PERMISSION_ANSWERS } from "../core/permissions.ts";
import { quoted } from "../core/shell-words.ts";
import { oneLine } from "../core/terminal-text.ts";
import { isServerTool } from "../core/tools.ts";
import { ruleOfEffect, ruleText } from "../exchange/permissions/rule.ts";
import { BUILT_IN_TOOLS } from "../exchange/tools/built-in.ts";
import type { OpenQuestion } from "../store/questions/read.ts";
import { configFile, configPlace } from "./config.ts";
import { type CliContext, noticeLine } from "./context.ts";

/** A question with what a terminal offers besides its choices. */
export interface Offered {
  /** The choices of the question, and `ALLOW_IN_CONFIG` if it is offered. */
  readonly choices: readonly string[] | null;
  /** What is written into the config by that choice; null if it is not offered. */
  readonly grant: { readonly rule: string; readonly folder: string } | null;
}

/** Offers to allow a call in the config too, if its question has a rule that the session could keep. */
export function offeredChoices(
  cli: CliContext,
  { kind, choices, effect }: Pick<OpenQuestion, "kind" | "choices" | "effect">,
  folder: string | null,
): Offered {
  const rule = kind === "permission" ? ruleOfEffect(effect, BUILT_IN_TOOLS) : null;
  const isKept = choices?.includes(PERMISSION_ANSWERS.session) === true;
  // your config refuses the name of a tool that only the program has
  const isKnown = rule !== null && (BUILT_IN_TOOLS.has(rule.tool) || isServerTool(rule.tool));
  return !isKnown || !isKept || choices === null || folder === null || configFile(cli) === null
    ? { choices, grant: null }
    : { choices: [...choices, ALLOW_IN_CONFIG], grant: { rule: ruleText(rule), folder } };
}

/** The line of the choice, with the folder. */
export function grantLine({ choices, grant }: Offered): string[] {
  return grant === null
    ? []
    : [`  ${choices?.length}. ${ALLOW_IN_CONFIG}: ${oneLine(grant.folder)} (in your config)`];
}

/** How a person takes back an answer that counts for longer than its call; null for another answer. */
export function takeBackLine(
  answer: string,
  { effect }: Pick<OpenQuestion, "effect">,
): string | null {
  const { exchange, session } = PERMISSION_ANSWERS;
  if (answer !== exchange && answer !== session) {
    return null;
  }
  const rule = ruleOfEffect(effect, BUILT_IN_TOOLS);
  const named = rule === null ? "with a rule of `/permission`" : oneLine(ruleText(rule));
  return `To take that back: /permission remove ${named}`;
}

/**
 * What is stored as the answer: a further choice is written into the config first, and then allows this call. Null
 * if that failed; the reason is shown.
 */
export async function storedAnswer(
  cli: CliContext,
  answer: string,
  { grant }: Offered,
): Promise<string | null> {
  if (answer !== ALLOW_IN_CONFIG || grant === null) {
    return answer;
  }
  const { allowInFolder } = await import("../exchange/config/set-value.ts");
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
  return PERMISSION_ANSWERS.once;
}
