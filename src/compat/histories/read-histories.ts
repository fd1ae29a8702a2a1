import type { History, Program } from "./history.ts";
import { readClaudeCode } from "./formats/claude-code.ts";
import { readCodex } from "./formats/codex.ts";
import { readGemini } from "./formats/gemini.ts";
import { readOpencode } from "./formats/opencode.ts";
import { readPi } from "./formats/pi.ts";
import { Rollouts } from "./formats/rollouts.ts";

/**
 * Reads the conversations of a file of a program, one after the other. Nothing is written, neither to the file nor
 * beside it. `rollouts` spares reading what files beside it say again.
 *
 * Error codes: `file_unreadable`; `export_invalid` for a file without a conversation; `body_too_large`.
 */
export async function* readHistories(
  program: Program,
  source: string,
  rollouts: Rollouts = new Rollouts(),
): AsyncGenerator<History> {
  switch (program) {
    case "claude-code":
      yield await readClaudeCode(source);
      break;
    case "codex":
      yield await readCodex(source, rollouts);
      break;
    case "opencode":
      yield* readOpencode(source);
      break;
    case "gemini":
      yield await readGemini(source);
      break;
    case "pi":
      yield await readPi(source);
  }
}
