import { createInterface } from "node:readline";

import { ask } from "../../process/ask.ts";
import { askSecret } from "../../process/ask-secret.ts";
import { type CliContext, noticeLine } from "../../process/context.ts";

/** Questions to a person, in plain lines on standard error. */
export interface Dialog extends Disposable {
  /** False if everything has to come from options. */
  readonly mayAsk: boolean;
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
  if (!mayAsk || isTerminal) {
    return {
      mayAsk,
      say,
      ask: async (question) => (await ask(cli, { question, on: cli.stderr }))?.trim() ?? null,
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
  return { mayAsk, say, ask: next, askSecret: next, [Symbol.dispose]: () => reader.close() };
}
