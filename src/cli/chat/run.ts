import { isRepriseError } from "../../core/errors.ts";
import { type CliContext, noticeLine } from "../process/context.ts";
import { ASKS } from "../process/exit-code.ts";
import { notUtf8 } from "./prompt-text.ts";
import type { ExchangeResult } from "../../exchange/events.ts";
import type { Answering } from "./who-answers.ts";
import { askQuestions } from "./ask-questions.ts";
import { createElsewhere } from "./elsewhere.ts";
import type { Front, InputEvent, Typed } from "./front.ts";
import { giveBack, offerUnsent, type Sent, showUnsent } from "./give-back.ts";
import type { FromOutside } from "./from-outside.ts";
import { greeting } from "./greeting.ts";
import type { HandedInPlan } from "../process/handed-in.ts";
import { interruptible, runCommand } from "./interruptible.ts";
import { send } from "./send.ts";
import { messageTooLarge } from "../../exchange/storable-message.ts";
import { isAsking, type Talk } from "./talk.ts";
import { showFailure } from "./show-failure.ts";
import type { Secrets } from "../../core/secrets.ts";
import { waitsFor } from "../../store/records/exchanges/waits-for.ts";
import type { Store } from "../../store/store.ts";
import { isUnknownCommand, slashCommand } from "./slash/slash.ts";
import type { OpenSession } from "./slash/slash-context.ts";
import { dropped, dropWaiting, noticeUnsent } from "./waiting-lines.ts";

type Outcome = "stay" | "leave" | "failed" | "stopped" | "waiting" | OpenSession;

export interface ConversationContext extends Talk {
  readonly front: Front;
  readonly store: Store;
  readonly askWith: FromOutside["askWith"];
  readonly answering: Answering;
  readonly secrets: Secrets;
  readonly handedIn: HandedInPlan;
  /** Called before each message that is sent. */
  readonly beforeSend: () => Promise<void>;
}

/**
 * A session until end of file, /exit, /end or a second Ctrl-C. With a terminal a
 * failed exchange is shown and the session continues; without one the rest of the input may depend
 * on the answer that is missing, so the program stops there and its exit code says why. Returns which session comes next; null
 * for none.
 */
export async function runConversation(context: ConversationContext): Promise<OpenSession | null> {
  const { cli, front } = context;
  const terminal = cli.stdin.isTTY === true;
  if (terminal) {
    context.askWith((question) => front.confirm(question));
  }
  try {
    if (terminal && !context.json) {
      await front.greet(await greeting(context));
      await offerUnsent(context);
    }
    const elsewhere =
      terminal && !context.json && cli.stdout.isTTY ? createElsewhere(context) : null;
    let interrupted = false;
    for (;;) {
      const waiting = elsewhere?.wait();
      const event = await front.next(waiting?.news);
      if (event.kind === "news") {
        const shown = await elsewhere?.show(front);
        if (shown?.state === "waiting") {
          await handled(context, () => answerForeign(context));
        }
        continue;
      }
      waiting?.stop();
      const again = event.kind === "interrupt" && event.dropped === 0 && interrupted;
      if (event.kind === "end" || again) {
        if (terminal) {
          // next output must not come after the prompt
          cli.stdout.print("\n");
        }
        return null;
      }
      if (event.kind === "interrupt") {
        noticeLine(
          cli,
          `\n${dropped(event.dropped)}Press Ctrl-C again or type /exit to leave; the session is kept.`,
        );
      }
      const outcome = await handle(context, event);
      if (typeof outcome === "object") {
        dropWaiting(context);
        return outcome;
      }
      if (outcome === "leave" || (outcome !== "stay" && !terminal)) {
        if (outcome !== "failed") {
          noticeUnsent(context);
        }
        return null;
      }
      // after a stopped answer, one more Ctrl-C is the second
      interrupted = event.kind === "interrupt" || outcome === "stopped";
    }
  } finally {
    await front.close();
  }
}

function handle(context: ConversationContext, event: InputEvent): Promise<Outcome> {
  const { conversation, front } = context;
  const sending: { last: Sent | null } = { last: null };
  let isLong = false;
  const sendTyped = (typed: Typed, text: string): Promise<Outcome> => {
    sending.last = { typed, text, after: conversation.current()?.last_seq ?? 0 };
    return exchange(context, sending.last);
  };
  const work = async (): Promise<Outcome> => {
    if (event.kind === "unreadable") {
      throw notUtf8();
    }
    if (event.kind === "too_large") {
      throw messageTooLarge();
    }
    if (event.kind !== "line" || event.text.trim() === "") {
      return "stay";
    }
    if (event.pasted) {
      return sendTyped(event, event.text);
    }
    if (context.cli.stdin.isTTY === true && event.text.startsWith("!")) {
      const { runOwn } = await import("./run-own.ts");
      const cwd = context.conversation.planned().repo_path ?? context.cli.cwd;
      const { isStopped, result } = await runCommand(context, {
        text: event.text,
        canStop: true,
        run: (signal) => runOwn(event.text, { ...context, cwd, signal }),
      });
      if (result !== null) {
        return await sendTyped(event, result);
      }
      return isStopped ? stopped(context) : "stay";
    }
    const message = await messageOfFolder(context, event.text);
    if (message !== null) {
      return await sendTyped(event, message);
    }
    const command = slashCommand(event.text);
    if (command !== null) {
      const confirm = askToConfirm(context.cli, front);
      isLong = command.canStop;
      const { isStopped, result } = await runCommand(context, {
        text: event.text,
        canStop: command.canStop,
        run: (signal) => command.run({ ...context, signal, confirm }),
      });
      if (isStopped && result !== "leave") {
        return stopped(context);
      }
      isLong = false;
      return result === "continue" ? await exchange(context, null) : (result ?? "stay");
    }
    // "//text" sends "/text"
    const text = event.text.startsWith("//") ? event.text.slice(1) : event.text;
    return sendTyped(event, text);
  };
  return handled(context, work, async () => {
    if (sending.last !== null) {
      await giveBack(context, sending.last);
    } else if (isLong && context.cli.stdin.isTTY === true && front.waiting() > 0) {
      // they were written for what it did not do
      front.giveBack(null);
    }
  });
}

/** Returns the message of a command of the folder; null for another line. */
async function messageOfFolder(context: ConversationContext, line: string): Promise<string | null> {
  if (!isUnknownCommand(line)) {
    return null;
  }
  const { commandMessage } = await import("./slash/skills.ts");
  return commandMessage(context, line);
}

/** Without a terminal, the rest of the input may depend on what was stopped. */
function stopped({ cli }: ConversationContext): Outcome {
  if (cli.stdin.isTTY !== true) {
    cli.exitCode = 1;
  }
  return "stopped";
}

/** Shows what went wrong, and stays. */
async function handled(
  context: ConversationContext,
  work: () => Promise<Outcome>,
  afterwards: () => Promise<void> = async () => {},
): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    const terminal = context.cli.stdin.isTTY === true;
    if (context.json && !terminal) {
      noticeUnsent(context);
    }
    const { exitCode } = await showFailure(context, error);
    if (!context.json && !terminal) {
      noticeUnsent(context);
    }
    // a person has seen it and continued
    context.cli.exitCode = terminal ? 0 : exitCode;
    // its rows do not count as those of another process
    await context.conversation.refresh().catch(() => null);
    await afterwards();
    return "failed";
  }
}

/** Null continues what was interrupted. */
async function exchange(context: ConversationContext, sent: Sent | null): Promise<Outcome> {
  const { front } = context;
  const text = sent?.text ?? null;
  const terminal = context.cli.stdin.isTTY === true;
  const run = (message: string | null, waits?: boolean): Promise<ExchangeResult> =>
    interruptible(front, (signal) =>
      send({
        ...context,
        text: message,
        signal,
        view: front.view,
        waits,
      }),
    );
  await context.beforeSend();
  let result = await run(text).catch((error: unknown) => {
    if (!terminal || sent === null || !isRepriseError(error, "session_busy")) {
      throw error;
    }
    // keeps what a person typed: a service may answer another message
    noticeLine(context.cli, `${error.message} Your message waits for its turn; Ctrl-C drops it.`);
    return run(text, true).catch((failure: unknown) => notSent(context, sent, failure));
  });
  if (result === null) {
    return "stopped";
  }
  const left = new Set<string>();
  while (terminal && isAsking(result)) {
    const asked = (await isAnsweredMeanwhile(context))
      ? "answered"
      : await askQuestions(context, { continues: true, left });
    if (asked === "open" || (asked === "some" && front.leaving.aborted)) {
      break;
    }
    const next = await run(null).catch(continuedElsewhere);
    if (next === null) {
      noticeLine(context.cli, "Another process continues the exchange, or has stopped it.");
      return "stay";
    }
    result = next;
  }
  const { state } = result;
  const stopped = state === "stopped";
  if (state !== "done" && (!terminal || front.leaving.aborted)) {
    context.cli.exitCode = isAsking(result) ? ASKS : 1;
  } else if (stopped) {
    dropWaiting(context);
  }
  if (state === "done" && terminal && !context.json && !front.leaving.aborted) {
    await context.handedIn.offer(context.conversation, front);
  }
  return state === "done" ? "stay" : state;
}

/** True if an answer came while the exchange ran: it continues before the person is asked the rest. */
async function isAnsweredMeanwhile({ store, conversation }: ConversationContext): Promise<boolean> {
  const session_id = conversation.current()?.id;
  return session_id !== undefined && (await store.read(waitsFor, { session_id })) === "node";
}

/** Answers what an exchange of another process asks. A node continues it, and without one this terminal does. */
async function answerForeign(context: ConversationContext): Promise<Outcome> {
  const { store, conversation } = context;
  const session_id = conversation.current()?.id;
  const open = await conversation.openQuestions();
  const asked = await askQuestions(context, { continues: false });
  if (session_id === undefined || open.length === 0 || asked === "open") {
    return "stay";
  }
  const { whetherRuns } = await import("../../exchange/runnable.ts");
  const queued = { session_id, state: "queued" } as const;
  const { runnable } = await whetherRuns(store, queued, { besides: false });
  return runnable
    ? "stay"
    : exchange(context, null).catch((error: unknown) => {
        continuedElsewhere(error);
        return "stay";
      });
}

/** Null if another process was faster. */
function continuedElsewhere(error: unknown): null {
  if (!isRepriseError(error, "nothing_to_continue", "session_busy")) {
    throw error;
  }
  return null;
}

/** Null for a message that was dropped while it waited for its turn, or would withdraw a question. */
function notSent(context: ConversationContext, sent: Sent, error: unknown): null {
  if (isRepriseError(error, "question_open")) {
    noticeLine(context.cli, error.message);
    showUnsent(context, sent);
  } else if (isRepriseError(error, "session_busy")) {
    noticeLine(context.cli, "Your message was not sent.");
    dropWaiting(context);
  } else {
    throw error;
  }
  return null;
}

/** Without a terminal a command runs without a question. */
function askToConfirm(cli: CliContext, front: Front): (question: string) => Promise<boolean> {
  return async (question) => cli.stdin.isTTY !== true || front.confirm(question);
}
