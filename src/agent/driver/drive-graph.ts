import { AIMessage } from "@langchain/core/messages";

import { isRepriseError } from "../../core/errors.ts";
import type { GraphQuestion } from "../../exchange/events.ts";
import type { Live } from "../../exchange/exchanger.ts";
import type { DrivenAgent, ExchangeEnd, ThreadConfig } from "./driven-agent.ts";
import { hearEverywhere } from "./hear-everywhere.ts";
import { questionOf } from "./questions.ts";
import type { HeldThread } from "./thread-holder.ts";
import { answerText, isUnfinished } from "../messages/ended-answer.ts";
import { isDropped, messagesOf } from "../messages/thread-state.ts";

/** An agent and the thread in which it works, under its session's lease. */
export interface Driven {
  readonly agent: DrivenAgent;
  readonly thread: Pick<HeldThread, "held" | "saver" | "puts">;
  readonly config: ThreadConfig;
  /** Aborted once the exchange is stopped. */
  readonly signal: Live["signal"];
}

/**
 * Runs an agent on its input, and on from its checkpoint as often as it recovers from an error. An exchange
 * that is stopped before its graph runs does not run it.
 *
 * Error codes: `lease_lost`, `session_ended`, `database_*`, and those of the agent.
 */
export async function driveGraph(driven: Driven, given: unknown): Promise<ExchangeEnd> {
  const { agent, thread, signal } = driven;
  const before = thread.puts();
  let input = given;
  // LangGraph may store the input before it reads the signal
  while (!signal.aborted) {
    const stop = stopUntilAnswered(signal);
    const { refused, ...hearing } = agent.hearing(() => stop.ignore());
    const ends = [thread.held.lost, ...(refused === undefined ? [] : [refused])];
    try {
      const asked = await run(driven, input, {
        ...hearing,
        signal: AbortSignal.any([stop.signal, ...ends]),
      });
      thread.held.lost.throwIfAborted();
      return endWith(agent, asked);
    } catch (error) {
      for (const end of ends) {
        end.throwIfAborted();
      }
      if (!signal.aborted) {
        await agent.recover(oneOf(error));
        input = null;
      }
    } finally {
      stop.ignore();
    }
  }
  const answer = await finishedAnswer(driven, before);
  // a newer owner of the lease may have finished the thread since
  await thread.held.renew();
  return answer === null
    ? { state: "stopped", answer: await agent.keepStopped() }
    : { state: "done", answer };
}

type Running = Omit<ReturnType<DrivenAgent["hearing"]>, "refused"> & {
  readonly signal: AbortSignal;
};

/** Returns what the graph asks; null if it has finished. */
async function run(
  { agent, config }: Driven,
  input: unknown,
  { handler, everywhere, ...options }: Running,
): Promise<readonly GraphQuestion[] | null> {
  const work = async () => {
    const updates = await agent.runnable.stream(input, {
      ...config,
      ...options,
      streamMode: "updates",
      callbacks: [handler, ...everywhere],
      durability: "sync",
    });
    let asked: readonly GraphQuestion[] | null = null;
    for await (const update of updates) {
      const questions = questionsIn(update);
      asked = questions === null ? asked : [...(asked ?? []), ...questions];
    }
    return asked;
  };
  return everywhere.length === 0 ? work() : hearEverywhere(everywhere, work);
}

function endWith(
  { storesQuestions, answer }: DrivenAgent,
  asked: readonly GraphQuestion[] | null,
): ExchangeEnd {
  if (asked === null) {
    return { state: "done", answer: answer() };
  }
  return storesQuestions ? { state: "waiting" } : { state: "waiting", interrupts: asked };
}

/** Returns what the graph asks, of an update of its stream; null if the graph does not stop with it. */
function questionsIn(update: unknown): readonly GraphQuestion[] | null {
  const asked: unknown =
    typeof update === "object" && update !== null ? Reflect.get(update, "__interrupt__") : null;
  return Array.isArray(asked)
    ? asked.map((question: { id?: string; value?: unknown }) => questionOf(question))
    : null;
}

/** Returns the error that says why the exchange ended, if nodes failed that ran side by side. */
function oneOf(error: unknown): unknown {
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  return errors.find((each) => isRepriseError(each)) ?? error;
}

/** A signal that is aborted with the given one until the last answer only has to be stored. */
function stopUntilAnswered(signal: AbortSignal): { signal: AbortSignal; ignore: () => void } {
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  return { signal: stop.signal, ignore: () => signal.removeEventListener("abort", onAbort) };
}

/**
 * Returns the answer if the graph was stopped only after the checkpoint that finished it; null if it had not
 * finished. The thread decides, not what the stream had shown by then.
 */
async function finishedAnswer(
  { agent, thread, config }: Driven,
  putsBefore: number,
): Promise<string | null> {
  // before the thread is read: LangGraph does not wait for a checkpoint that is on its way, and what is read without it
  // is the answer before
  const hasPut = thread.puts() > putsBefore;
  const { tasks } = await agent.graph.getState(config);
  const messages = messagesOf(await thread.saver.getTuple(config));
  const last = messages.at(-1);
  const isWhole = AIMessage.isInstance(last) && !isDropped(last) && !isUnfinished(last);
  return hasPut && tasks.length === 0 && isWhole ? answerText(messages) : null;
}
