import type { PromptResponse, StopReason } from "@agentclientprotocol/sdk/unstable";

import { type ErrorCode, isRepriseError, type RepriseError } from "../core/errors.ts";
import type { Conversation } from "../exchange/conversation.ts";
import type { ExchangeEvent, ExchangeResult } from "../exchange/events.ts";
import type { Live } from "../exchange/exchanger.ts";
import { waitsFor } from "../store/records/exchanges/waits-for.ts";
import type { Store } from "../store/store.ts";
import type { Questions } from "./questions.ts";
import type { SessionView } from "./session-view.ts";

/** An exchange that an editor asks for, with what it needs. */
export interface Turn {
  readonly store: Store;
  readonly conversation: Conversation;
  readonly view: SessionView;
  readonly questions: Questions;
  /** Aborted by the person: the exchange is stopped, and what it asks is withdrawn. */
  readonly cancelled: AbortSignal;
  /** Aborted by the person or the end of the connection, after which a question stays open. */
  readonly signal: AbortSignal;
  readonly notice: (sentence: string) => Promise<void>;
}

/** Ends of an exchange that the protocol has a word for. */
const STOP_REASONS: Readonly<Partial<Record<ErrorCode, StopReason>>> = {
  answer_cut: "max_tokens",
  model_refused: "refusal",
  call_limit_reached: "max_turn_requests",
};

/** State of an exchange that has paused or ended: of one that ran here its result, else of its record. */
type Paused = Pick<ExchangeResult, "state"> | { readonly state: "failed" };

/**
 * Runs an exchange with a message, or continues one for null, until it ends, also if it asks meanwhile and another program
 * continues it. Resolves when all of it was shown.
 *
 * Error codes: as `Conversation.send`.
 */
export async function runTurn(turn: Turn, text: string | null): Promise<PromptResponse> {
  const { conversation, view, cancelled, signal } = turn;
  try {
    let paused = await send(turn, text);
    while (paused.state === "waiting") {
      if ((await untilAnswered(turn)) === "left") {
        await stopIfCancelled(turn);
        return await ended(turn, signal.aborted ? "cancelled" : "end_turn");
      }
      paused = await continued(turn);
    }
    return await ended(turn, paused.state === "done" ? "end_turn" : "cancelled");
  } catch (error) {
    view.expect(null);
    if (signal.aborted) {
      return { stopReason: "cancelled" };
    }
    const stopReason = isRepriseError(error) ? STOP_REASONS[error.code] : undefined;
    const session = await conversation.refresh().catch(() => null);
    await view.hasSeen(session?.last_seq ?? 0);
    if (stopReason === undefined || cancelled.aborted) {
      throw error;
    }
    await turn.notice((error as RepriseError).message);
    return { stopReason };
  }
}

/** Waits for its turn while another exchange of the session runs. */
async function send(turn: Turn, text: string | null): Promise<Paused> {
  const { conversation, view, signal } = turn;
  const live: Live = {
    listener: (event) => void heard(turn, event),
    signal,
    // a client cannot take back what it was sent
    textIsFinal: true,
  };
  view.expect(text);
  try {
    return await conversation.send(text, live);
  } catch (error) {
    if (text === null || !isRepriseError(error, "session_busy") || signal.aborted) {
      throw error;
    }
    await turn.notice(`${error.message} Your message waits for its turn; cancel drops it.`);
    return conversation.send(text, live, true);
  }
}

async function heard(turn: Turn, event: ExchangeEvent): Promise<void> {
  if (event.type === "notice") {
    await turn.notice(event.sentence);
  }
}

/** Continues after an answer, or follows another program that was faster. */
async function continued(turn: Turn): Promise<Paused> {
  try {
    return await send(turn, null);
  } catch (error) {
    if (!isRepriseError(error, "nothing_to_continue", "session_busy")) {
      throw error;
    }
    return endElsewhere(turn);
  }
}

/** Waits until an exchange that another program runs has paused or ended. */
async function endElsewhere({ view, signal }: Turn): Promise<Paused> {
  const aborted = aborting(signal);
  for (;;) {
    const next = view.next();
    const state = view.exchange?.state ?? "done";
    if (view.isOver || signal.aborted) {
      return { state: "stopped" };
    }
    if (state !== "running" && state !== "queued") {
      return { state: state === "interrupted" ? "failed" : state };
    }
    await Promise.race([next, aborted]);
  }
}

/** `answered` once something can continue; `left` if nobody answers here, or the turn is over. */
async function untilAnswered(turn: Turn): Promise<"answered" | "left"> {
  const { store, conversation, questions, signal } = turn;
  const aborted = aborting(signal);
  for (;;) {
    const next = questions.next();
    const session_id = conversation.current()?.id ?? "";
    const open = (await conversation.openQuestions()).filter(({ kind }) => kind !== "messages");
    if (open.length === 0 || (await store.read(waitsFor, { session_id })) === "node") {
      return "answered";
    }
    open.forEach((question) => questions.ask(question));
    if (signal.aborted || open.every(({ id }) => questions.isLeft(id))) {
      return "left";
    }
    await Promise.race([next, aborted]);
  }
}

/** Stops an exchange that waits for an answer: a person who cancels it does not want to be asked. */
async function stopIfCancelled({ conversation, cancelled }: Turn): Promise<void> {
  if (cancelled.aborted) {
    await conversation.stop().catch((error: unknown) => {
      if (!isRepriseError(error, "exchange_ended")) {
        throw error;
      }
    });
  }
}

async function ended(turn: Turn, stopReason: StopReason): Promise<PromptResponse> {
  const session = await turn.conversation.refresh();
  if (session === null) {
    return { stopReason };
  }
  await turn.view.hasSeen(session.last_seq);
  const { total_input_tokens: inputTokens, total_output_tokens: outputTokens } = session;
  const totalTokens = inputTokens + outputTokens;
  return { stopReason, usage: { inputTokens, outputTokens, totalTokens } };
}

function aborting(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
    }
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
