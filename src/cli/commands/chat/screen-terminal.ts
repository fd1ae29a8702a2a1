import type { ChatOptions } from "./chat-options.ts";
import type { CliContext } from "../../process/context.ts";
import type { RawTerminal } from "../../process/raw-terminal.ts";

/** The terminal to draw a screen on; null for programs, and if plain lines are asked for. */
export function screenTerminal(
  cli: CliContext,
  options: Pick<ChatOptions, "json" | "json=events" | "plain">,
): RawTerminal | null {
  const isPlain =
    options.plain === true ||
    (cli.env["REPRISE_PLAIN"] ?? "") !== "" ||
    [undefined, "", "dumb"].includes(cli.env["TERM"]);
  const isJson = options.json === true || options["json=events"] === true;
  return isPlain || isJson || cli.stdin.isTTY !== true ? null : cli.stdout.terminal();
}
