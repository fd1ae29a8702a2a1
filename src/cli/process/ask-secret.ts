import type { CliContext } from "./context.ts";

const ENTER = /[\r\n]/;
/** Ctrl-C and Ctrl-D. */
const LEAVING = ["\u0003", "\u0004"];
const ESC = "\u001b";
const ERASING = ["\u007f", "\b"];
const ERASE_ALL = "\u0015";
// oxlint-disable-next-line no-control-regex -- marks of a paste, and keys such as arrows
const SEQUENCES = /\u001b\[[\d;]*[A-Za-z~]/g;

/** Reads a line from the terminal and shows nothing of it; null at Esc, Ctrl-C, Ctrl-D and the end. */
export function askSecret(cli: CliContext, question: string): Promise<string | null> {
  const { stdin, stderr } = cli;
  // first: what is typed at once is not shown either
  stdin.setRawMode?.(true);
  stderr.print(question);
  return new Promise((resolve) => {
    let typed = "";
    const finish = (answer: string | null): void => {
      stdin.off("data", read).off("end", onEnd).off("error", onEnd);
      stdin.pause();
      stdin.setRawMode?.(false);
      stderr.print("\n");
      resolve(answer?.replace(SEQUENCES, "").trim() ?? null);
    };
    const onEnd = (): void => finish(null);
    const read = (piece: string | Uint8Array): void => {
      const text = typeof piece === "string" ? piece : Buffer.from(piece).toString("utf8");
      // a sequence comes as one piece
      if (text === ESC) {
        finish(null);
        return;
      }
      for (const key of text) {
        if (LEAVING.includes(key)) {
          finish(null);
          return;
        }
        if (ENTER.test(key)) {
          finish(typed);
          return;
        }
        typed = key === ERASE_ALL ? "" : ERASING.includes(key) ? typed.slice(0, -1) : typed + key;
      }
    };
    stdin.on("data", read).on("end", onEnd).on("error", onEnd);
    stdin.resume();
  });
}
