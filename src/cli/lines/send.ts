import { setTimeout as sleep } from "node:timers/promises";

import { onSignals } from "../signals.ts";
import type { Live } from "../../exchange/exchanger.ts";
import type { ExchangeEvent, ExchangeResult } from "../../exchange/events.ts";
import { messageInfo } from "../../core/answers.ts";
import { oneLine } from "../../core/terminal-text.ts";
import { type CliContext, noticeLine, printJson } from "../context.ts";
import { ASKS } from "../exit-code.ts";
import { isAsking, type Talk } from "../conversation/talk.ts";
import { createAnswerText } from "./answer-text.ts";
import type { Conversation } from "../../exchange/conversation.ts";
import { AGENT_TOOLS, ASK_USER, HAND_IN_PLAN } from "../../exchange/tool-catalogue.ts";
import { noticeWithdrawn } from "../withdrawn.ts";
import { GRAPH_ASKS } from "../question-lines.ts";
import { createCommandOutput } from "./command-output.ts";
import { commandEndLine, shortened, toolCallLine } from "../tool-lines.ts";

interface SendInput extends Talk {
  /** Null continues an exchange that was interrupted or failed. */
  readonly text: string | null;
  readonly signal: AbortSignal;
  readonly mayRepeat?: Live["mayRepeat"];
  /** Waits for its turn while another exchange runs. */
  readonly waits?: boolean;
}

/** Sends one message and shows the answer as it comes, or prints JSON in its place. */
export async function send(input: SendInput): Promise<ExchangeResult> {
  const { cli, conversation, json, signal } = input;
  const isNew = input.text !== null && conversation.current()?.activity === "interrupted";
  const open = isNew && !json ? await conversation.openQuestions() : [];
  const screen = json ? null : plainScreen(cli);
  const live: Live = {
    listener: (event) => (input.events ? printJson(cli, event) : screen?.show(event)),
    signal,
    ...(screen === null || !cli.stderr.isTTY ? {} : { onOutput: screen.output }),
    // the program that reads the pipe could take the text of a broken attempt for the answer
    textIsFinal: !json && !cli.stdout.isTTY,
    mayRepeat: input.mayRepeat,
  };
  const result = await conversation.send(input.text, live, input.waits).catch((error: unknown) => {
    screen?.fail();
    throw error;
  });
  screen?.finish(result);
  if (screen?.hasChangedFiles() === true && cli.stdout.isTTY) {
    await showChanges(input);
  }
  noticeWithdrawn(cli, open, open.length === 0 ? [] : await conversation.openQuestions());
  const questions = isAsking(result) ? await conversation.openQuestions() : null;
  if (json && !input.events) {
    printJson(cli, {
      ...exchangeDocument(result),
      ...(questions === null ? {} : { questions }),
    });
  }
  return result;
}

const CHANGES_FILES: ReadonlySet<string> = new Set(
  AGENT_TOOLS.filter(({ repeatable }) => !repeatable).map(({ name }) => name),
);

/** Lines of each file's diff after an exchange; `sessions changes` shows more. */
const DIFF_LINES_SHOWN = 12;

/** What the exchange changed in files: without a question, nobody has seen it. */
async function showChanges({ cli, conversation }: SendInput): Promise<void> {
  const { changeLines } = await import("../change-lines.ts");
  for (const line of changeLines(await conversation.changes(), { max: DIFF_LINES_SHOWN })) {
    noticeLine(cli, line);
  }
}

/**
 * One message without a screen, as `-p` sends it. A signal stops it and keeps what had arrived; a
 * second one ends the program in the system's own way.
 */
export async function sendOnce(input: Omit<SendInput, "signal">): Promise<void> {
  const stop = new AbortController();
  const stopListening = onSignals(input.cli, () => {
    stop.abort();
    stopListening();
  });
  try {
    let result = await send({ ...input, signal: stop.signal });
    while (isAsking(result) && (await isAnsweredLater(input.conversation, stop.signal))) {
      result = await send({ ...input, text: null, signal: stop.signal });
    }
    if (result.state !== "done") {
      input.cli.exitCode = isAsking(result) ? ASKS : 1;
    }
  } finally {
    stopListening();
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

/** What programs read with `--json`: one exchange. */
function exchangeDocument(result: ExchangeResult): Record<string, unknown> {
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
    total_input_tokens: session.total_input_tokens,
    total_output_tokens: session.total_output_tokens,
    last_seq: session.last_seq,
    messages: result.messages.map(messageInfo),
  };
}

/** Text to standard output as it arrives; tools and notices to standard error, a line each. */
function plainScreen(cli: CliContext) {
  const answer = createAnswerText(cli.stdout);
  let own: string | null = null;
  let hasChanged = false;
  const notice = (line: string): void => {
    answer.breakLine();
    noticeLine(cli, line);
  };
  const output = createCommandOutput(notice);
  return {
    output: output.show,
    hasChangedFiles: () => hasChanged,
    show: (event: ExchangeEvent): void => {
      own ??= event.exchange_id;
      switch (event.type) {
        case "text":
          answer.show(event.text);
          break;
        case "tool_call":
          // what it asks is shown when the exchange waits for the answer
          if (event.name !== ASK_USER) {
            notice(toolCallLine(event));
          }
          break;
        case "tool_result":
          hasChanged ||= event.status === "success" && CHANGES_FILES.has(event.name);
          // a sub-agent's failed calls are its own concern
          if (event.status === "success" && event.name === HAND_IN_PLAN) {
            noticeLine(cli, `· ${shortened(event.content.split("\n", 1)[0] ?? "")}`);
          }
          if (event.status === "error" && event.exchange_id === own) {
            const reason = event.content.replace(/^Error: /, "");
            noticeLine(cli, `· ${shortened(event.name)} failed: ${shortened(reason)}`);
          } else if (event.status === "success") {
            const ended = commandEndLine(event);
            if (ended !== null) {
              notice(ended);
            }
          }
          break;
        case "retry": {
          const seconds = Math.max(1, Math.round(event.delay_ms / 1000));
          notice(`note: ${event.reason}; asking again in ${seconds} s.`);
          break;
        }
        case "child":
          notice(`· ${oneLine(event.persona_name)} works in session ${event.child_session_id}`);
          break;
        case "child_waiting":
          notice(`· a sub-agent waits: ${event.running} run already`);
          break;
        case "notice":
          notice(`note: ${event.sentence}`);
          break;
        default:
          break;
      }
    },
    /** The error begins on a new line of the terminal; a pipe gets the answer as it came. */
    fail: (): void => {
      if (cli.stdout.isTTY) {
        answer.breakLine();
      }
    },
    finish: (result: ExchangeResult): void => {
      answer.breakLine();
      if (isAsking(result)) {
        return;
      }
      if (result.state === "waiting") {
        noticeLine(cli, GRAPH_ASKS);
        for (const { value } of result.interrupts ?? []) {
          noticeLine(cli, `? ${shortened(JSON.stringify(value) ?? "")}`);
        }
      } else if (result.state === "stopped") {
        noticeLine(
          cli,
          result.answer === ""
            ? "Stopped before an answer came; the session can be continued."
            : "Stopped; what had arrived is kept.",
        );
      }
    },
  };
}
