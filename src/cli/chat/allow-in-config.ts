import { isRepriseError } from "../../core/errors.ts";
import {
  type AskedPermission,
  type Choice,
  lastingRules,
  type PermissionChoice,
} from "../../core/questions.ts";
import { quoted } from "../../core/text/shell-words.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import { isServerTool } from "../../core/tools.ts";
import { editsChoice, folderChoice } from "../../core/text/words.ts";
import { BUILT_IN_LAYER, editingTools } from "../../rules/permissions/layers.ts";
import { BUILT_IN_TOOLS } from "../../rules/tools/built-in.ts";
import type { OpenQuestion } from "../../store/records/questions/read.ts";
import { configFile, configPlace } from "../process/config.ts";
import { type CliContext, noticeLine } from "../process/context.ts";
import type { GivenAnswer } from "../output/question-lines.ts";

/** A question with what a terminal offers besides its choices. */
export interface Offered {
  /** The choices of the question, and after them `allow_edits` and `allow_folder` if they are offered. */
  readonly choices: readonly Choice[] | null;
  /** Sets the mode `edits` of the session; null if that is not offered. */
  readonly allowEdits: (() => Promise<unknown>) | null;
  /** Rule that `allow_folder` writes into the config; null if it is not offered. */
  readonly grant: { readonly rule: string; readonly folder: string } | null;
}

/**
 * Offers the mode `edits` for an edit that this mode allows, and to allow a call in the config too, if the session
 * could keep one rule for it.
 */
export function offeredChoices(
  cli: CliContext,
  { choices, permission }: Pick<OpenQuestion, "choices" | "permission">,
  {
    folder,
    setEdits,
  }: { readonly folder: string | null; readonly setEdits: Offered["allowEdits"] },
): Offered {
  if (choices === null) {
    return { choices, allowEdits: null, grant: null };
  }
  const allowEdits = isEdit(permission) ? setEdits : null;
  const [rule, ...others] = lastingRules(choices) ?? [];
  const tool = permission?.tool ?? "";
  // your config refuses the name of a tool that only the program has
  const isKnown = BUILT_IN_TOOLS.has(tool) || isServerTool(tool);
  const mayGrant = isKnown && others.length === 0 && configFile(cli) !== null;
  const grant = mayGrant && rule !== undefined && folder !== null ? { rule, folder } : null;
  return {
    choices: [
      ...choices,
      ...(allowEdits === null ? [] : [editsChoice()]),
      ...(grant === null ? [] : [folderChoice(grant.rule)]),
    ],
    allowEdits,
    grant,
  };
}

/** True if only the built-in rule of an editing tool asks, which the mode `edits` lifts. A protected file has a separate rule. */
function isEdit(permission: AskedPermission | null): boolean {
  return (
    permission !== null &&
    permission.layer === BUILT_IN_LAYER &&
    permission.rule === permission.tool &&
    editingTools(BUILT_IN_TOOLS).some(({ name }) => name === permission.tool)
  );
}

/** The lines of the further choices. */
export function furtherLines(
  { choices: own }: Pick<OpenQuestion, "choices">,
  { choices, grant }: Offered,
): string[] {
  const first = own?.length ?? 0;
  return (choices ?? []).slice(first).map(({ id, label, meaning }, at) => {
    const what =
      id === IN_FOLDER && grant !== null ? `${oneLine(grant.folder)} (in your config)` : meaning;
    return `  ${first + at + 1}. ${label}: ${what}`;
  });
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

const EDITS: PermissionChoice = "allow_edits";
const IN_FOLDER: PermissionChoice = "allow_folder";
const ONCE: PermissionChoice = "allow_once";

/**
 * Returns what is stored as the answer: a further choice sets the mode, or is written into the config, and then allows
 * this call. Null if that failed; the reason is shown.
 */
export async function storedAnswer(
  cli: CliContext,
  answer: GivenAnswer,
  { allowEdits, grant }: Offered,
): Promise<GivenAnswer | null> {
  try {
    if (answer.choice === EDITS && allowEdits !== null) {
      await allowEdits();
      noticeLine(
        cli,
        "The permission mode is edits. To take that back: /permission ask, or Shift-Tab.",
      );
      return { ...answer, choice: ONCE };
    }
    if (answer.choice === IN_FOLDER && grant !== null) {
      const { allowInFolder } = await import("../../rules/config/set-value.ts");
      await allowInFolder(configPlace(cli), grant);
      noticeLine(
        cli,
        `Your config allows ${oneLine(grant.rule)} in ${oneLine(grant.folder)}. To take that back, run there: reprise permission remove config ${quoted(oneLine(grant.rule))}`,
      );
      return { ...answer, choice: ONCE };
    }
    return answer;
  } catch (error) {
    if (!isRepriseError(error)) {
      throw error;
    }
    noticeLine(cli, `${error.message} The question stays open.`);
    return null;
  }
}
