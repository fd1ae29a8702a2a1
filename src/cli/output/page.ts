import { spawn } from "node:child_process";
import { pipeline } from "node:stream/promises";

import { rowsText } from "../../core/text/terminal-text.ts";
import type { CliContext } from "../process/context.ts";
import type { RawTerminal } from "../process/raw-terminal.ts";
import { onSignals } from "../process/signals.ts";

/** As git sets it: leaves at once if all fits, shows colours, and leaves what was shown on the screen. */
const LESS = "FRX";

/**
 * Shows rows in the user's pager: `$PAGER`, else `less`. They are printed instead if they fit on the screen, if the
 * pager is `cat` or empty, and if it cannot be started. One that is left or killed early has not failed.
 */
export async function page(
  cli: CliContext,
  terminal: RawTerminal,
  rows: readonly string[],
): Promise<void> {
  const pager = cli.env["PAGER"] ?? "less";
  const needsNone = rows.length < terminal.size().rows || cli.env["TERM"] === "dumb";
  if (needsNone || ["", "cat"].includes(pager.trim()) || !(await pageThrough(cli, pager, rows))) {
    cli.stdout.printRows(rows);
  }
}

/** False if the pager did not show it, because there is none of this name. */
async function pageThrough(
  cli: CliContext,
  pager: string,
  rows: readonly string[],
): Promise<boolean> {
  // Ctrl-C is a key of the pager
  const stopListening = onSignals(cli, () => undefined, ["SIGINT"]);
  try {
    const { LESS: given = "" } = cli.env;
    const child = spawn("/bin/sh", ["-c", pager], {
      stdio: ["pipe", "inherit", "inherit"],
      env: { LV: "-c", ...cli.env, LESS: given === "" ? LESS : `-R ${given}` },
    });
    const exited = new Promise<number | null>((resolve) => {
      child.once("error", () => resolve(NOT_FOUND)).once("close", resolve);
    });
    // a pager reads no further once it was left
    await pipeline([rowsText(rows)], child.stdin).catch(() => undefined);
    return (await exited) !== NOT_FOUND;
  } finally {
    stopListening();
  }
}

/** Exit code of a shell for a command that is not there. */
const NOT_FOUND = 127;
