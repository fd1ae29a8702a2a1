import type { LiveEvent } from "../core/live.ts";
import type { ExchangeInfo, MessageInfo, QuestionInfo } from "../core/schemas.ts";
import { oneLine } from "../core/terminal-text.ts";
import { failureLine } from "../store/sessions/failures.ts";
import { createAnswerText } from "./lines/answer-text.ts";
import { questionLines } from "./question-lines.ts";
import { marksText } from "./sessions/transcript.ts";
import { resultLine, shortened, toolCallLine } from "./tool-lines.ts";

/** A stored message, as the live feed has it. */
export type ShownMessage = Omit<MessageInfo, "session_id" | "token_count" | "archived">;

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
  const calls = new Map<string, string>();
  let printed = "";
  let arriving: string | null = null;
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
  const call = (
    called: Parameters<typeof toolCallLine>[0] & { readonly call_id: string },
  ): void => {
    if (!calls.has(called.call_id)) {
      calls.set(called.call_id, called.name);
      line(toolCallLine(called));
    }
  };
  const exchange = (record: ExchangeInfo): void => {
    if (record.state !== "running") {
      calls.clear();
    }
    line(exchangeLine(record));
  };
  const question = (asked: QuestionInfo): void => {
    const lines = asked.state === "open" ? openLines(asked, answerWith) : [endLine(asked)];
    lines.forEach(line);
  };
  const retry = (again: { readonly reason: string; readonly until: string } | null): void => {
    if (again !== null) {
      line(`note: ${oneLine(again.reason)}; asking again at ${time(again.until)}.`);
    }
  };
  const piece = (message_id: string, content: string): void => {
    if (showsText) {
      if (arriving !== message_id) {
        line("\nassistant");
        arriving = message_id;
      }
      text.show(content);
    }
  };
  const message = (stored: ShownMessage): void => {
    const { message_id, call_id, role, status, content } = stored;
    if (role === "tool") {
      const name = calls.get(call_id ?? "") ?? "a tool";
      line(resultLine({ name, status, content }));
      return;
    }
    if (message_id === arriving) {
      arriving = null;
    } else {
      line(`\n${headingOf(stored, time)}`);
      text.show(content);
    }
    text.breakLine();
    for (const { id: call_id, ...made } of stored.tool_calls ?? []) {
      call({ call_id, ...made });
    }
  };
  const show = ({ event, data }: LiveEvent): void => {
    switch (event) {
      case "snapshot":
        if (data.exchange !== null) {
          exchange(data.exchange);
        }
        data.calls.forEach(call);
        data.questions.forEach(question);
        retry(data.retry);
        if (data.text !== null) {
          piece(data.text.message_id, data.text.text);
        }
        break;
      case "text":
        piece(data.message_id, data.text);
        break;
      case "reset":
        if (data.message_id === arriving) {
          arriving = null;
          line("The answer broke off: the text above is void.");
        }
        break;
      case "message":
        message(data);
        break;
      case "exchange":
        exchange(data);
        break;
      case "question":
        question(data);
        break;
      case "tool_call":
        call(data);
        break;
      case "usage":
        // it breaks no answer: the exchange has it at its end
        if (arriving === null && data.output_tokens > 0) {
          line(`· ${data.input_tokens} tokens in, ${data.output_tokens} out so far`);
        }
        break;
      case "retry":
        retry(data);
        break;
    }
  };
  return {
    show: (event) => {
      show(event);
      return taken();
    },
    showMessage: (stored) => {
      message(stored);
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
  const tokens = input_tokens === null ? "" : `, ${input_tokens} tokens in, ${output_tokens} out`;
  const failure =
    error_sentence === null
      ? ""
      : `: ${failureLine({ code: error_code ?? "", sentence: error_sentence })}`;
  return `· exchange ${n} ${state}${tokens}${failure}`;
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
