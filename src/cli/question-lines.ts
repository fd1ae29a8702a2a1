import { PERMISSION_ANSWERS } from "../core/permissions.ts";
import type { QuestionInfo } from "../core/schemas.ts";
import { oneLine, visible } from "../core/terminal-text.ts";
import { MAX_INDENTATION, visibleBlanks } from "../core/visible-blanks.ts";

/** What a graph asks is in its thread only: no command can answer it. */
export const GRAPH_ASKS =
  "The exchange waits for the answer of a person. Give it in a program with `run(id, graph, new Command({ resume: … }))`; a new message skips it.";

/** What is shown of a question. */
type Asked = Pick<QuestionInfo, "text" | "choices" | "effect" | "kind"> & {
  readonly path?: readonly string[];
};

/** A question for a person; what a model wrote is made safe for a terminal. */
export function questionLines({ text, choices, effect, path = [], kind }: Asked): string[] {
  return [
    ...(path.length > 1 ? [`  a sub-agent asks: ${path.map(shortId).join(" > ")}`] : []),
    ...visibleBlanks(visible(text), MAX_INDENTATION)
      .split("\n")
      // no line of the text may pass for a choice or an effect
      .map((line, index) => (index === 0 ? `  ${line}` : `  | ${line}`)),
    ...(effect === null
      ? []
      : [`  ${kind === "permission" ? "Then" : "Effect"}: ${oneLine(visibleBlanks(effect))}`]),
    ...(choices ?? []).map((choice, index) => `  ${index + 1}. ${oneLine(visibleBlanks(choice))}`),
  ];
}

/**
 * The choice that a person means, by its words in any case or by its number, also as `2.`. Null for none,
 * and for what is one choice's words and another one's number.
 */
function choiceOf(choices: readonly string[], given: string): string | null {
  const words = given.toLowerCase();
  const named =
    choices.find((choice) => choice === given) ??
    choices.find((choice) => choice.toLowerCase() === words);
  const number = /^(\d+)\.?$/.exec(given)?.[1];
  const numbered = number === undefined ? undefined : choices[Number(number) - 1];
  const isUnclear = named !== undefined && numbered !== undefined && named !== numbered;
  return isUnclear ? null : (named ?? numbered ?? null);
}

/** What a person answers to a question. */
export interface GivenAnswer {
  readonly text: string;
  /** For the agent, besides the answer. */
  readonly note: string | null;
}

/** A choice; after that which denies a permission, why. Null for none. */
export function answerOf(
  { choices, kind }: Pick<Asked, "kind"> & { readonly choices: readonly string[] | null },
  given: string,
): GivenAnswer | null {
  const text = choices === null ? given : choiceOf(choices, given);
  if (text !== null || choices === null) {
    return text === null ? null : { text, note: null };
  }
  const [, word = "", note = ""] = /^([^\s:,]+)[:,]?\s+(.+)$/s.exec(given) ?? [];
  const { no } = PERMISSION_ANSWERS;
  return kind === "permission" && choiceOf(choices, word) === no ? { text: no, note } : null;
}

/** How to deny with a reason; empty if the question takes none. */
export function reasonLine({ choices, kind }: Pick<Asked, "choices" | "kind">): string[] {
  const { no } = PERMISSION_ANSWERS;
  return kind === "permission" && choices?.includes(no) === true
    ? [`  To give the agent a reason: ${no}: the reason`]
    : [];
}

function shortId(id: string): string {
  return id.slice(0, 8);
}
