import type { RunnableConfig } from "@langchain/core/runnables";
import { interrupt } from "@langchain/langgraph";

import { RepriseError } from "../../core/errors.ts";
import type { Answerer, Asking, DefaultAnswer, PermissionChoice } from "../../core/questions.ts";
import { parseThreadId } from "../../core/threads.ts";
import type { Conceal } from "../../core/secrets.ts";
import { questionValue } from "../../langgraph/question-value.ts";
import { type NewQuestion, shownHash } from "../../store/records/questions/ask.ts";
import { readAsked } from "../../store/records/questions/read.ts";
import type { Store } from "../../store/store.ts";
import type { BegunMark } from "../messages/begun-calls.ts";
import { type Asked, cleaned, isShown, newQuestion } from "./shown-question.ts";

/** What a person answered. */
export interface Answer {
  /** The id of the choice; null for a text. */
  readonly choice: string | null;
  /** The label of the choice, or the text. */
  readonly answer: string;
  /** What the person said besides. */
  readonly note: string | null;
  readonly answered_by: Answerer;
  /** The id of the question. */
  readonly question: string;
}

/** What a tool gets, so that it can ask. */
interface ToolAsking {
  ask(asking: Asking): Promise<Answer>;
  consent(asking: Asking, basis: string): Promise<Answer>;
  denied(about: string): Promise<Pick<Answer, "note"> | null>;
  begin(): Promise<void>;
  keep(text: string, n: number): Promise<void>;
}

export interface AskingTools {
  readonly store: Pick<Store, "read">;
  /** True if a call may have asked before: the exchange continues, and calls have no result yet. */
  readonly hasAsked: boolean;
  readonly default?: DefaultAnswer | undefined;
}

const ASKING = "__reprise_asking__";
const ASKS_FIRST = Symbol("asks first");
const PERMITS_ITSELF = Symbol("permits itself");

/**
 * Asks a person. The exchange waits for the answer and holds nothing meanwhile; with the answer, the tool
 * is run again from its beginning, so its code before the question must have no effect. An answer counts
 * only for what the person was shown: asked otherwise, it is another question.
 *
 * For a tool of the built-in agent, with the config that it was called with.
 */
export function ask(config: RunnableConfig | undefined, asking: Asking): Promise<Answer> {
  return askingOf(config).ask(asking);
}

/**
 * As `ask`, about what the call is about to do. `basis` is what the question depends on besides what it shows:
 * if that is another one by the time of the answer, it is another question. The call does not begin by it, and
 * no time-out allows it.
 */
export function askConsent(
  config: RunnableConfig | undefined,
  asking: Asking,
  basis: string,
): Promise<Answer> {
  return askingOf(config).consent(asking, basis);
}

/**
 * Returns the answer of a person who denied the call when it asked before; null if nobody did. `about` is a question
 * whose first line the one that was asked has. No mode and no rule that came meanwhile lifts a no.
 */
export async function deniedBefore(
  config: RunnableConfig | undefined,
  about: string,
): Promise<Pick<Answer, "note"> | null> {
  const given: unknown = config?.configurable?.[ASKING];
  return given === undefined ? null : (given as ToolAsking).denied(about);
}

/** Stores that the call may take effect from here on, for a tool that `asksFirst`; nothing without an exchange. */
export async function beginCall(config: RunnableConfig | undefined): Promise<void> {
  const given: unknown = config?.configurable?.[ASKING];
  await (given as ToolAsking | undefined)?.begin();
}

/** Stores what the call needs to continue when it is run again: see `BegunMark.keep`. Nothing without an exchange. */
export async function keepCall(
  config: RunnableConfig | undefined,
  text: string,
  n: number,
): Promise<void> {
  const given: unknown = config?.configurable?.[ASKING];
  await (given as ToolAsking | undefined)?.keep(text, n);
}

function askingOf(config: RunnableConfig | undefined): ToolAsking {
  const given: unknown = config?.configurable?.[ASKING];
  if (given === undefined) {
    throw new RepriseError("internal", "Only a tool that an exchange runs can ask a person.");
  }
  return given as ToolAsking;
}

/** Marks a tool that takes effect only after its first answer, or `beginCall`, which store that it begins. */
export function asksFirst<Tool extends object>(tool: Tool): Tool {
  return Object.assign(tool, { [ASKS_FIRST]: true });
}

export function isAskingFirst(tool: object | undefined): boolean {
  return tool !== undefined && ASKS_FIRST in tool;
}

/** Marks a tool that asks for a permission itself, once it knows the file or the command. */
export function permittingItself<Tool extends object>(tool: Tool): Tool {
  return Object.assign(tool, { [PERMITS_ITSELF]: true });
}

export function permitsItself(tool: object | undefined): boolean {
  return tool !== undefined && PERMITS_ITSELF in tool;
}

/** The config with which a call can ask. `begins` is false for a tool that never takes effect. */
export function withAsking<Config extends RunnableConfig>(
  config: Config,
  call: {
    readonly call_id: string;
    readonly mark: BegunMark;
    readonly begins: boolean;
    /** Applied to what is asked. */
    readonly conceal: Conceal;
  },
  tools: AskingTools,
): Config {
  const asking = createAsking(String(config.configurable?.["thread_id"]), call, tools);
  return { ...config, configurable: { ...config.configurable, [ASKING]: asking } };
}

function createAsking(
  thread_id: string,
  { call_id, mark, begins, conceal }: Parameters<typeof withAsking>[1],
  { store, hasAsked, default: later }: AskingTools,
): ToolAsking {
  const thread = parseThreadId(thread_id);
  const readQuestions = async (): Promise<readonly Asked[]> => {
    if (thread === null) {
      throw new RepriseError("internal", "Only a session's thread can ask a person.");
    }
    const { sessionId: session_id, suffix: thread_suffix } = thread;
    return store.read(readAsked, { session_id, thread_suffix, call_id });
  };
  /** The last question of this run that has its answer. */
  let last = 0;
  const answerTo = async (given: Asking, basis?: string): Promise<Answer> => {
    const asking = cleaned(given, conceal);
    // of all of it: what is cut off counts too
    const shown_hash = shownHash(given, basis);
    const asked = await readQuestions();
    const known = asked.find(
      (question) =>
        question.number > last &&
        question.shown_hash === shown_hash &&
        question.state !== "withdrawn" &&
        (basis === undefined || last > 0 || !isAskedAgain(question, asked)) &&
        isShown(question, asking) &&
        (asking.kind !== "permission" || isConsent(question)),
    );
    if (known?.state === "answered" && known.answer !== null && known.answered_by !== null) {
      last = known.number;
      const { id: question, answer, note, answered_by } = known;
      return { ...replyOf(asking, answer), note, answered_by, question };
    }
    const number = known?.number ?? (asked.at(-1)?.number ?? 0) + 1;
    const isAllowed = basis !== undefined && later?.choice !== DENY;
    return parkWith({ ...asking, call_id, number, shown_hash }, isAllowed ? undefined : later);
  };
  const begin = async (): Promise<void> => {
    if (begins) {
      await mark.begin();
    }
  };
  return {
    ask: async (asking) => {
      const answer = await answerTo(asking);
      await begin();
      return answer;
    },
    consent: answerTo,
    denied: async (about) => {
      if (!hasAsked || thread === null) {
        return null;
      }
      const line = firstLine(
        cleaned({ kind: "permission", text: about, choices: null, permission: null }, conceal),
      );
      const last = (await readQuestions()).findLast(
        ({ permission, text }) => permission !== null && text.split("\n").includes(line),
      );
      return last?.state === "answered" && last.answer === DENY ? { note: last.note } : null;
    },
    begin,
    keep: (text, n) => mark.keep(text, n),
  };
}

/**
 * True if the call has asked about the same file again since, because it had changed: the answer to that counts, also
 * if the file is now as it was before.
 */
function isAskedAgain({ number, text }: Asked, asked: readonly Asked[]): boolean {
  return asked.some((other) => other.number > number && firstLine(other) === firstLine({ text }));
}

const DENY: PermissionChoice = "deny";

/** The answer to a question that was shown so, by what is stored of it. */
function replyOf({ choices }: Asking, stored: string): Pick<Answer, "choice" | "answer"> {
  return choices === null
    ? { choice: null, answer: stored }
    : { choice: stored, answer: choices.find(({ id }) => id === stored)?.label ?? stored };
}

function firstLine({ text }: Pick<Asked, "text">): string {
  return text.split("\n", 1).join("");
}

/** False for an answer that an import brought: it could be forged. */
function isConsent({ state, answered_here }: Asked): boolean {
  return state !== "answered" || answered_here === 1;
}

/**
 * Parks the thread with a question, which the store keeps unless it has it. Called within a node; its code
 * runs again from its beginning once the exchange is continued.
 */
export function parkWith(
  question: Asking & Pick<NewQuestion, "call_id" | "number" | "shown_hash">,
  later: DefaultAnswer | undefined,
): never {
  return interrupt(questionValue(newQuestion(question, later)));
}
