import type { RunnableConfig } from "@langchain/core/runnables";
import { interrupt } from "@langchain/langgraph";

import { RepriseError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import {
  type Answerer,
  type Asking,
  type DefaultAnswer,
  MAX_CHOICE,
  MAX_CHOICES,
  MAX_QUESTION,
} from "../core/questions.ts";
import { storableText } from "../core/text.ts";
import { parseThreadId } from "../core/threads.ts";
import { questionValue } from "../langgraph/question-value.ts";
import { type NewQuestion, shownHash } from "../store/questions/ask.ts";
import { readAsked } from "../store/questions/read.ts";
import type { Store } from "../store/store.ts";
import type { BegunMark } from "./begun-calls.ts";

/** What a person answered. */
export interface Answer {
  readonly answer: string;
  /** What the person said besides. */
  readonly note: string | null;
  readonly answered_by: Answerer;
}

/** What a tool gets, so that it can ask. */
interface ToolAsking {
  ask(asking: Asking): Promise<Answer>;
}

export interface AskingTools {
  readonly store: Pick<Store, "read">;
  readonly default?: DefaultAnswer | undefined;
}

const ASKING = "__reprise_asking__";
const ASKS_FIRST = Symbol("asks first");

/**
 * Asks a person. The exchange waits for the answer and holds nothing meanwhile; with the answer, the tool
 * is run again from its beginning, so its code before the question must have no effect. An answer counts
 * only for what the person was shown: asked otherwise, it is another question.
 *
 * For a tool of the built-in agent, with the config that it was called with.
 */
export function ask(config: RunnableConfig | undefined, asking: Asking): Promise<Answer> {
  const given: unknown = config?.configurable?.[ASKING];
  if (given === undefined) {
    throw new RepriseError("internal", "Only a tool that an exchange runs can ask a person.");
  }
  return (given as ToolAsking).ask(asking);
}

/** Marks a tool that takes effect only after its first answer: `ask` stores then that it begins. */
export function asksFirst<Tool extends object>(tool: Tool): Tool {
  return Object.assign(tool, { [ASKS_FIRST]: true });
}

export function isAskingFirst(tool: object | undefined): boolean {
  return tool !== undefined && ASKS_FIRST in tool;
}

/** The config with which a call can ask. `begins` is false for a tool that never takes effect. */
export function withAsking<Config extends RunnableConfig>(
  config: Config,
  call: { readonly call_id: string; readonly mark: BegunMark; readonly begins: boolean },
  tools: AskingTools,
): Config {
  const asking = createAsking(String(config.configurable?.["thread_id"]), call, tools);
  return { ...config, configurable: { ...config.configurable, [ASKING]: asking } };
}

function createAsking(
  thread_id: string,
  { call_id, mark, begins }: Parameters<typeof withAsking>[1],
  { store, default: later }: AskingTools,
): ToolAsking {
  const thread = parseThreadId(thread_id);
  /** The last question of this run that has its answer. */
  let last = 0;
  return {
    ask: async (given) => {
      if (thread === null) {
        throw new RepriseError("internal", "Only a session's thread can ask a person.");
      }
      const { sessionId: session_id, suffix: thread_suffix } = thread;
      const asking = cleaned(given);
      // of all of it: what is cut off counts too
      const shown_hash = shownHash(given);
      const asked = await store.read(readAsked, { session_id, thread_suffix, call_id });
      const known = asked.find(
        ({ number, state, shown_hash: hash }) =>
          number > last && hash === shown_hash && state !== "withdrawn",
      );
      if (known?.state === "answered" && known.answer !== null && known.answered_by !== null) {
        last = known.number;
        if (begins) {
          await mark.begin();
        }
        const { answer, note, answered_by } = known;
        return { answer, note, answered_by };
      }
      const number = known?.number ?? (asked.at(-1)?.number ?? 0) + 1;
      return parkWith({ ...asking, call_id, number, shown_hash }, later);
    },
  };
}

/**
 * Parks the thread with a question, which the store keeps unless it has it. Called within a node; its code
 * runs again from its beginning once the exchange is continued.
 */
export function parkWith(
  question: Asking & Pick<NewQuestion, "call_id" | "number" | "shown_hash">,
  later: DefaultAnswer | undefined,
): never {
  const takes = later !== undefined && question.choices?.includes(later.answer) === true;
  return interrupt(
    questionValue({
      ...question,
      id: newId(),
      default: takes ? later : null,
    }),
  );
}

/** What a model wrote may be anything. */
function cleaned({ kind, text, choices, effect }: Asking): Asking {
  const cut = (value: string, max: number): string =>
    storableText(value.length > max ? `${value.slice(0, max - 1)}…` : value).trim();
  const shown = choices?.slice(0, MAX_CHOICES).map((choice) => cut(choice, MAX_CHOICE));
  const distinct = [...new Set(shown)].filter((choice) => choice !== "");
  return {
    kind,
    text: cut(text, MAX_QUESTION),
    choices: distinct.length === 0 ? null : distinct,
    effect: effect === null ? null : cut(effect, MAX_QUESTION),
  };
}
