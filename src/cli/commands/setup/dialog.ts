import { createInterface } from "node:readline";

import { ask } from "../../process/ask.ts";
import { askSecret } from "../../process/ask-secret.ts";
import { type CliContext, noticeLine } from "../../process/context.ts";

const USUAL_COLUMNS = 80;

/** Questions to a person, in plain lines on standard error. */
export interface Dialog extends Disposable {
  /** False if everything has to come from options. */
  readonly mayAsk: boolean;
  /** False on a terminal of fewer columns than usual. */
  readonly isWide: boolean;
  say(line: string): void;
  /** The answer without white space around it; null once there is none to come. */
  ask(question: string): Promise<string | null>;
  /** As `ask`, and a terminal shows nothing of the answer. */
  askSecret(question: string): Promise<string | null>;
}

/** A terminal answers, or the lines of a pipe. */
export function openDialog(cli: CliContext, mayAsk: boolean): Dialog {
  const isTerminal = cli.stdin.isTTY === true;
  const say = (line: string): void => noticeLine(cli, line);
  const columns = cli.stderr.terminal()?.size().columns ?? USUAL_COLUMNS;
  const isWide = columns >= USUAL_COLUMNS;
  if (!mayAsk || isTerminal) {
    return {
      mayAsk,
      isWide,
      say,
      ask: async (question) => {
        const answer = await ask(cli, { question, on: cli.stderr });
        if (answer === null && isTerminal) {
          // the next text would follow the question
          cli.stderr.print("\n");
        }
        return answer?.trim() ?? null;
      },
      askSecret: (question) => askSecret(cli, question),
      [Symbol.dispose]: () => undefined,
    };
  }
  const reader = createInterface({ input: cli.stdin });
  const lines = reader[Symbol.asyncIterator]();
  const next = async (question: string): Promise<string | null> => {
    say(question.trimEnd());
    const { done, value } = await lines.next();
    return done === true ? null : value.trim();
  };
  return {
    mayAsk,
    isWide,
    say,
    ask: next,
    askSecret: next,
    [Symbol.dispose]: () => reader.close(),
  };
}
