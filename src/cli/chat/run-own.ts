import { visible } from "../../core/text/terminal-text.ts";
import { readConceal, type Secrets } from "../../core/secrets.ts";
import { type CliContext, noticeLine } from "../process/context.ts";
import { ownCommand, ownCommandMessage, runOwnCommand } from "./own-command.ts";

/** Lines of its output that are shown, and characters of each. */
const MAX_LINES = 500;
const MAX_CHARACTERS = 2000;

/**
 * Runs a command that the person typed after `!`, and shows its output as it comes. Returns the message that gives it
 * to the agent; null if it is not for the agent. Error codes: `invalid_usage` if nothing follows the `!`.
 */
export async function runOwn(
  text: string,
  {
    cli,
    cwd,
    secrets,
    signal,
  }: {
    readonly cli: CliContext;
    readonly cwd: string;
    readonly secrets: Secrets;
    readonly signal: AbortSignal;
  },
): Promise<string | null> {
  const own = ownCommand(text);
  if (own === null) {
    return null;
  }
  const output = createOutput(cli);
  const end = await runOwnCommand({
    line: own.line,
    cwd,
    env: cli.env,
    signal,
    onText: output.add,
  });
  output.end();
  noticeLine(cli, `· ${end.end}, ${(end.durationMs / 1000).toFixed(1)} s`);
  return own.isForAgent ? ownCommandMessage(own, end, await readConceal(secrets)) : null;
}

/** Prints text by lines. */
function createOutput(cli: CliContext) {
  let rest = "";
  let count = 0;
  const line = (text: string): void => {
    count += 1;
    if (count <= MAX_LINES) {
      // keeps what is seen at the end of a line that draws over itself
      const last = text.replace(/\r+$/, "").split("\r").at(-1) ?? "";
      noticeLine(cli, `  ${visible(last.slice(0, MAX_CHARACTERS).toWellFormed())}`);
    }
  };
  return {
    add: (text: string): void => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      lines.forEach(line);
    },
    end: (): void => {
      if (rest !== "") {
        line(rest);
      }
      if (count > MAX_LINES) {
        noticeLine(cli, `  … ${count - MAX_LINES} more lines`);
      }
    },
  };
}
