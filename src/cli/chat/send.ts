import { setTimeout as sleep } from "node:timers/promises";

import { NO_USAGE, type Usage } from "../../core/cost/model-calls.ts";
import { costOf } from "../../core/cost/cost-fields.ts";
import type { Conversation } from "../../exchange/conversation.ts";
import type { ExchangeResult } from "../../exchange/events.ts";
import type { Live } from "../../exchange/exchanger.ts";
import { isRepriseError } from "../../core/errors.ts";
import type { WhenLimited } from "../../core/model-settings.ts";
import { noticeLine, printJson } from "../process/context.ts";
import { resetOf, shownReset, whenReset, whyNoWait } from "./limit-wait.ts";
import { ASKS } from "../process/exit-code.ts";
import { onSignals } from "../process/signals.ts";
import { noticeWithdrawn } from "./withdrawn.ts";
import type { ExchangeView } from "./front.ts";
import { isAsking, type Talk } from "./talk.ts";

interface SendInput extends Talk {
  /** Null continues an exchange that was interrupted or failed. */
  readonly text: string | null;
  readonly signal: AbortSignal;
  /** Waits for its turn while another exchange runs. */
  readonly waits?: boolean;
  /** Called unless `json` is set. */
  readonly view: () => Promise<ExchangeView>;
}

/** Sends one message and shows the answer as it comes, or prints JSON in its place. */
export async function send(input: SendInput): Promise<ExchangeResult> {
  const { cli, conversation, json, signal } = input;
  const isNew = input.text !== null && conversation.current()?.activity === "interrupted";
  const open = isNew && !json ? await conversation.openQuestions() : [];
  const view = json ? null : await input.view();
  const live: Live = {
    listener: (event) => (input.events ? printJson(cli, event) : view?.show(event)),
    signal,
    ...(view === null || view.output === null ? {} : { onOutput: view.output }),
    // the program that reads the pipe could take the text of a broken attempt for the answer
    textIsFinal: !json && !cli.stdout.isTTY,
  };
  const result = await conversation
    .send(input.text, live, input.waits)
    .catch(async (error: unknown) => {
      await view?.fail();
      throw error;
    });
  await view?.finish(result);
  if (view?.hasChangedFiles() === true && cli.stdout.isTTY) {
    view.showChanges(await changeLinesOf(input));
  }
  noticeWithdrawn(cli, open, open.length === 0 ? [] : await conversation.openQuestions());
  const questions = isAsking(result) ? await conversation.openQuestions() : null;
  if (json && !input.events) {
    const cost = await conversation.cost();
    printJson(cli, {
      ...exchangeDocument(result, cost?.exchange?.own ?? null),
      ...(questions === null ? {} : { questions }),
    });
  }
  return result;
}

/** Lines of each file's diff after an exchange; `sessions changes` shows more. */
const DIFF_LINES_SHOWN = 12;

/** Returns what the exchange changed in files: without a question, nobody has seen it. */
async function changeLinesOf({ conversation }: SendInput): Promise<string[]> {
  const { changeLines } = await import("../output/change-lines.ts");
  return changeLines(await conversation.changes(), { max: DIFF_LINES_SHOWN });
}

/**
 * Sends one message without a screen, as `-p` does. A signal stops it and keeps what had arrived; a second one ends
 * the program in the system's own way.
 */
export async function sendOnce(input: OnceInput): Promise<void> {
  const stop = new AbortController();
  const stopListening = onSignals(input.cli, () => {
    stop.abort();
    stopListening();
  });
  try {
    let result = await sendWithin({ ...input, signal: stop.signal });
    while (isAsking(result) && (await isAnsweredLater(input.conversation, stop.signal))) {
      result = await sendWithin({ ...input, text: null, signal: stop.signal });
    }
    if (result.state !== "done") {
      input.cli.exitCode = isAsking(result) ? ASKS : 1;
    }
  } finally {
    stopListening();
  }
}

interface OnceInput extends Omit<SendInput, "signal"> {
  /** `wait`: asks again once a limit is over that the exchange failed at. */
  readonly whenLimited: WhenLimited;
}

/** As `send`. An exchange that reaches a limit is continued, as often as that happens. */
async function sendWithin(input: OnceInput & Pick<SendInput, "signal">): Promise<ExchangeResult> {
  const { cli, signal, whenLimited } = input;
  let { text } = input;
  for (let times = 0; ; times += 1) {
    try {
      return await send({ ...input, text });
    } catch (error) {
      const resetsAt = whenLimited === "wait" ? resetOf(error) : null;
      if (resetsAt === null || !isRepriseError(error) || !(await input.conversation.hasFailed())) {
        throw error;
      }
      const whyNot = whyNoWait(resetsAt);
      if (whyNot !== null) {
        noticeLine(cli, whyNot);
        throw error;
      }
      noticeLine(cli, `${error.message} Waiting until ${shownReset(resetsAt)}; Ctrl-C ends it.`);
      await whenReset(resetsAt, { times, signal }).catch(() => {
        throw error;
      });
      text = null;
    }
  }
}

/** How often `-p` asks whether questions with a default answer have one. */
const ANSWER_POLL_MS = 250;

/** Waits for answers as long as each open question gets one by itself; false if one does not. */
async function isAnsweredLater(conversation: Conversation, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    await conversation.answerDue();
    const open = await conversation.openQuestions();
    if (signal.aborted || open.some(({ answer_by }) => answer_by === null)) {
      return false;
    }
    if (open.length === 0) {
      return true;
    }
    await sleep(ANSWER_POLL_MS);
  }
}

/** Returns what programs read with `--json`: one exchange. */
function exchangeDocument(result: ExchangeResult, cost: Usage | null): Record<string, unknown> {
  const { session } = result;
  return {
    session_id: session.id,
    thread_id: result.thread_id,
    ...(session.agent === null ? {} : { agent: session.agent }),
    persona_name: session.persona_name,
    model: result.model,
    answer: result.state === "waiting" ? "" : result.answer,
    stopped: result.state === "stopped",
    ...(result.state === "waiting" && result.interrupts !== undefined
      ? { interrupts: result.interrupts }
      : {}),
    ...costOf(cost ?? NO_USAGE),
    total_input_tokens: session.total_input_tokens,
    total_output_tokens: session.total_output_tokens,
    last_seq: session.last_seq,
    messages: result.messages,
  };
}
