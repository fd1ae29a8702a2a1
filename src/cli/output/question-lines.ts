import type {
  ApprovalChoice,
  Choice,
  GivenReply,
  PermissionChoice,
  QuestionKind,
} from "../../core/questions.ts";
import type { QuestionInfo } from "../../core/schemas/schemas.ts";
import { oneLine, visible } from "../../core/text/terminal-text.ts";
import { MAX_INDENTATION, visibleBlanks } from "../../core/text/visible-blanks.ts";
import { longerText } from "../../core/text/longer-text.ts";

/** Sentence for a graph that asks in its thread only: no command can answer it. */
export const GRAPH_ASKS =
  "The exchange waits for the answer of a person. Give it in a program with `run(id, graph, new Command({ resume: … }))`; a new message skips it.";

/** Parts of a question that are shown. */
type Asked = Pick<QuestionInfo, "text" | "choices"> & {
  readonly path?: readonly string[];
};

/** A question for a person; what a model wrote is made safe for a terminal. */
export function questionLines({ text, choices, path = [] }: Asked): string[] {
  const longer = longerText(choices);
  return [
    ...(path.length > 1 ? [`  a sub-agent asks: ${path.map(shortId).join(" > ")}`] : []),
    ...visibleBlanks(visible(text), MAX_INDENTATION)
      .split("\n")
      // no line of the text may pass for a choice or a rule
      .map((line, index) => (index === 0 ? `  ${line}` : `  | ${line}`)),
    ...(longer === null ? [] : [`  ${oneLine(visibleBlanks(longer))}`]),
    ...(choices ?? []).map(
      ({ label, meaning }, index) =>
        `  ${index + 1}. ${oneLine(visibleBlanks(meaning === null ? label : `${label}: ${meaning}`))}`,
    ),
  ];
}

/** Names the page that a question can be answered in. */
export function pageLine(address: string): string {
  return `Page: ${oneLine(address)}`;
}

/**
 * The choice that a person means, by its id, its words in any case, or its number, also as `2.`. Null for none, and for
 * what names one choice and is another one's number.
 */
function choiceOf(choices: readonly Choice[], given: string, isOffered: boolean): Choice | null {
  const words = given.toLowerCase();
  const named =
    choices.find(({ id, label }) => label === given || (!isOffered && id === given)) ??
    choices.find(({ label }) => label.toLowerCase() === words);
  const number = /^(\d+)\.?$/.exec(given)?.[1];
  const numbered = number === undefined ? undefined : choices[Number(number) - 1];
  const isUnclear = named !== undefined && numbered !== undefined && named !== numbered;
  return isUnclear ? null : (named ?? numbered ?? null);
}

/** Answer of a person to a question. */
export interface GivenAnswer {
  /** The id of the choice; null for a text. */
  readonly choice: string | null;
  /** Words of the choice, or the text. */
  readonly text: string;
  /** For the agent, besides the answer. */
  readonly note: string | null;
}

/** The answer as the store takes it. */
export function replyOf({ choice, text }: GivenAnswer): GivenReply {
  return choice === null ? { text } : { choice };
}

/** The choice after which a person may say why, by the kind of the question. */
const DENIALS: Partial<Record<QuestionKind, PermissionChoice | ApprovalChoice>> = {
  permission: "deny",
  approval: "refuse",
};

type Answerable = Pick<QuestionInfo, "kind" | "choices">;

/** A choice; after that which denies or refuses, why. Null for none. */
export function answerOf({ choices, kind }: Answerable, given: string): GivenAnswer | null {
  if (choices === null) {
    return { choice: null, text: given, note: null };
  }
  const isOffered = kind === "question";
  const chosen = choiceOf(choices, given, isOffered);
  if (chosen !== null) {
    return { choice: chosen.id, text: chosen.label, note: null };
  }
  const [, word = "", note = ""] = /^([^\s:,]+)[:,]?\s+(.+)$/s.exec(given) ?? [];
  const denied = choiceOf(choices, word, isOffered);
  return denied !== null && denied.id === DENIALS[kind]
    ? { choice: denied.id, text: denied.label, note }
    : null;
}

/** Returns how to deny or refuse with a reason; empty if the question takes none. */
export function reasonLine({ choices, kind }: Answerable): string[] {
  const denial = choices?.find(({ id }) => id === DENIALS[kind]);
  const of = kind === "permission" ? "give the agent" : "keep";
  return denial === undefined
    ? []
    : [`  To ${of} a reason: ${oneLine(visibleBlanks(denial.label))}: the reason`];
}

function shortId(id: string): string {
  return id.slice(0, 8);
}
