import type { LiveEvent } from "../../core/schemas/live.ts";
import type { ExchangeInfo, QuestionInfo } from "../../core/schemas/schemas.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import {
  EventReader,
  type EventSink,
  type ShownMessage,
} from "../../exchange/live/event-reader.ts";
import { failureLine } from "../../store/records/sessions/failures.ts";
import { createAnswerText } from "./answer-text.ts";
import { questionLines } from "../output/question-lines.ts";
import { marksText } from "../../exchange/transcript/texts.ts";
import { resultLine, shortened, toolCallLine } from "../output/tool-lines.ts";

/** The live feed as text. Each function returns what is printed next. */
export interface LiveScreen {
  show(event: LiveEvent): string;
  showMessage(message: ShownMessage): string;
}

export interface LiveScreenOptions {
  /** True to show answers while they are written; a program could take the text of one that breaks off for the answer. */
  readonly showsText: boolean;
  /** Lines after each question that is open. */
  readonly answerWith: readonly string[];
  /** A time as it is shown; as it is by default. */
  readonly time?: (iso: string) => string;
}

/**
 * Texts of a session are indented, so that no line of theirs can pass for one of the program's. What a terminal would
 * obey is made visible here, in a pipe as on a terminal.
 */
export function createLiveScreen(options: LiveScreenOptions): LiveScreen {
  const { showsText, answerWith, time = (iso) => iso } = options;
  let printed = "";
  let isArriving = false;
  /** The answer whose reasoning arrived last. */
  let thinking = "";
  const text = createAnswerText({ print: indenting((piece) => (printed += piece)) });

  const line = (sentence: string): void => {
    text.breakLine();
    printed += `${sentence}\n`;
  };
  const taken = (): string => {
    const all = printed;
    printed = "";
    return all;
  };
  const sink: EventSink = {
    reasoning: (message_id) => {
      if (message_id !== thinking) {
        thinking = message_id;
        line("· thinking…");
      }
    },
    text: (_, piece) => {
      if (showsText) {
        if (!isArriving) {
          line("\nassistant");
          isArriving = true;
        }
        text.show(piece);
      }
    },
    textEnd: (_, isVoid) => {
      isArriving = false;
      if (showsText && isVoid) {
        line("The answer broke off: the text above is void.");
      }
    },
    message: (message, hasArrived) => {
      if (!showsText || !hasArrived) {
        line(`\n${headingOf(message, time)}`);
        text.show(message.content);
      }
      text.breakLine();
    },
    call: (call) => line(toolCallLine(call)),
    // a reader of lines gets the result
    output: () => undefined,
    result: ({ status, content }, call) =>
      line(resultLine({ name: call?.name ?? "a tool", status, content })),
    exchange: (exchange) => line(exchangeLine(exchange)),
    question: (asked) =>
      (asked.state === "open" ? openLines(asked, answerWith) : [endLine(asked)]).forEach(line),
    usage: ({ input_tokens, output_tokens }) => {
      // tokens break no answer: the exchange has them at its end
      if (!isArriving && output_tokens > 0) {
        line(`· ${input_tokens} tokens in, ${output_tokens} out so far`);
      }
    },
    retry: (again) => {
      if (again !== null) {
        line(`note: ${oneLine(again.reason)}; asking again at ${time(again.until)}.`);
      }
    },
  };
  const reader = new EventReader(sink, { callsInOrder: false });
  return {
    show: (event) => {
      reader.read(event);
      return taken();
    },
    showMessage: (stored) => {
      reader.replay(stored);
      return taken();
    },
  };
}

function headingOf(
  { seq, role, ts, is_summary }: ShownMessage,
  time: (iso: string) => string,
): string {
  return `#${seq} ${role}  ${time(ts)}${marksText({ summary: is_summary })}`;
}

function exchangeLine(exchange: ExchangeInfo): string {
  const { n, state, input_tokens, output_tokens, error_code, error_sentence } = exchange;
  const { fallback_model } = exchange;
  const by = fallback_model === null ? "" : `, by ${oneLine(fallback_model)}`;
  const tokens = input_tokens === null ? "" : `, ${input_tokens} tokens in, ${output_tokens} out`;
  const failure =
    error_sentence === null
      ? ""
      : `: ${failureLine({ code: error_code ?? "", sentence: error_sentence })}`;
  return `· exchange ${n} ${state}${by}${tokens}${failure}`;
}

function openLines(asked: QuestionInfo, answerWith: readonly string[]): readonly string[] {
  return ["The agent asks:", ...questionLines(asked), ...answerWith];
}

function endLine({ id, state, answer }: QuestionInfo): string {
  return state === "answered"
    ? `Question ${id.slice(0, 8)} is answered: ${shortened(answer ?? "")}`
    : `Question ${id.slice(0, 8)} needs no answer any more.`;
}

/** Prints with two spaces before each line that has text. */
function indenting(print: (text: string) => void): (text: string) => void {
  let isLineStart = true;
  return (text) => {
    const indented = text.replace(/^(?=[^\n])/gm, (_, at: number) =>
      at > 0 || isLineStart ? "  " : "",
    );
    isLineStart = text.endsWith("\n");
    print(indented);
  };
}
