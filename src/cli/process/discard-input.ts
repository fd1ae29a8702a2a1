import type { CliContext } from "./context.ts";

/** Milliseconds of silence after which nothing more is expected. */
const QUIET_MS = 60;
/** Time of silence within a paste, whose end mark has to come yet. */
const PASTE_QUIET_MS = 1000;
/** A key that is held down does not keep the program from leaving. */
const MAX_MS = 10_000;

/**
 * Reads what is left in a terminal and drops it: the user's shell would run it. `pasting` is whether
 * a paste has begun already. Leaves the terminal as a shell wants it.
 */
export async function discardInput(stdin: CliContext["stdin"], pasting = false): Promise<void> {
  if (stdin.isTTY !== true || stdin.destroyed || stdin.readableEnded) {
    return;
  }
  stdin.setRawMode?.(true);
  await untilQuiet(stdin, pasting);
  stdin.pause();
  stdin.setRawMode?.(false);
}

function untilQuiet(stdin: CliContext["stdin"], begun: boolean): Promise<void> {
  return new Promise((resolve) => {
    let pasting = begun;
    let tail = "";
    const finish = (): void => {
      clearTimeout(quiet);
      clearTimeout(deadline);
      stdin.off("data", read).off("end", finish).off("error", finish).off("close", finish);
      resolve();
    };
    const wait = (): NodeJS.Timeout => setTimeout(finish, pasting ? PASTE_QUIET_MS : QUIET_MS);
    const read = (piece: string | Uint8Array): void => {
      const text = tail + (typeof piece === "string" ? piece : Buffer.from(piece).toString());
      const mark = text.lastIndexOf("\u001b[20");
      if (mark !== -1) {
        pasting = text.startsWith("\u001b[200~", mark);
      }
      tail = text.slice(-5);
      clearTimeout(quiet);
      quiet = wait();
    };
    let quiet = wait();
    const deadline = setTimeout(finish, MAX_MS);
    stdin.on("data", read).on("end", finish).on("error", finish).on("close", finish);
    stdin.resume();
  });
}
