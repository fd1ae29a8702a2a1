import { stoppedText } from "../../core/text/words.ts";
import { reasonOf } from "../../core/text/result-text.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import type { ExchangeEvent, ExchangeResult } from "../../exchange/events.ts";
import { type CliContext, noticeLine } from "../process/context.ts";
import type { ExchangeView } from "../chat/front.ts";
import { isAsking } from "../chat/talk.ts";
import { GRAPH_ASKS } from "../output/question-lines.ts";
import {
  mayHaveChanged,
  notesOf,
  resultLine,
  shortened,
  toolCallLine,
} from "../output/tool-lines.ts";
import { createAnswerText } from "./answer-text.ts";
import { createThoughtLines } from "./thought-lines.ts";
import { createCommandOutput } from "../output/command-output.ts";

/**
 * Text to standard output as it arrives; tools and notices to standard error, a line each. `saysSkips`: also that the
 * message skips an exchange that was interrupted.
 */
export function createPlainView(
  cli: CliContext,
  { saysSkips = false }: { readonly saysSkips?: boolean } = {},
): ExchangeView {
  const answer = createAnswerText(cli.stdout);
  let own: string | null = null;
  let hasChanged = false;
  const notice = (line: string): void => {
    answer.breakLine();
    noticeLine(cli, line);
  };
  const output = createCommandOutput(notice);
  const thought = cli.stderr.isTTY ? createThoughtLines(notice) : null;
  return {
    // only a terminal shows it
    output: cli.stderr.isTTY ? output.show : null,
    hasChangedFiles: () => hasChanged,
    showChanges: (lines) => {
      for (const line of lines) {
        noticeLine(cli, line);
      }
    },
    show: (event: ExchangeEvent): void => {
      own ??= event.exchange_id;
      if (event.exchange_id === own) {
        thought?.show(event);
      }
      switch (event.type) {
        case "started":
          if (saysSkips && event.skips === true) {
            notice("note: The exchange before it was interrupted. This message skips it.");
          }
          break;
        case "text":
          answer.show(event.text);
          break;
        case "tool_call":
          notice(toolCallLine(event));
          break;
        case "tool_result":
          hasChanged ||= mayHaveChanged(event);
          resultLines(event, event.exchange_id === own).forEach(notice);
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
    fail: async (): Promise<void> => {
      if (cli.stdout.isTTY) {
        answer.breakLine();
      }
    },
    finish: async (result: ExchangeResult): Promise<void> => {
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
          stoppedText({
            hasAnswer: result.answer !== "",
            next: "the session can be continued.",
          }),
        );
      }
    },
  };
}

/** Lines of a result for a person: that it failed, how a program ended, what somebody answered. */
function resultLines(
  result: Extract<ExchangeEvent, { type: "tool_result" }>,
  isOwn: boolean,
): readonly string[] {
  const { effect, status, content } = result;
  const notes = notesOf(result).map((note) => `note: ${note}`);
  const first = reasonOf(content);
  if (status === "ok" && effect === "runs") {
    return [`· ${shortened(first)}`, ...notes];
  }
  // a sub-agent's failed calls are its own concern
  const isShown = status === "ok" ? effect === "asks" : isOwn;
  return isShown ? [resultLine({ ...result, content: first }), ...notes] : notes;
}
