import type { History, Program } from "./history.ts";
import { readClaudeCode } from "./formats/claude-code.ts";
import { readCodex } from "./formats/codex.ts";
import { readGemini } from "./formats/gemini.ts";
import { readOpencode } from "./formats/opencode.ts";
import { readPi } from "./formats/pi.ts";

/**
 * Reads the conversations of a file of a program, one after the other. Nothing is written, neither to the file nor
 * beside it.
 *
 * Error codes: `file_unreadable`; `export_invalid` for a file without a conversation; `body_too_large`.
 */
export async function* readHistories(program: Program, source: string): AsyncGenerator<History> {
  if (program === "opencode") {
    yield* readOpencode(source);
  } else {
    yield await READERS[program](source);
  }
}

const READERS = {
  "claude-code": readClaudeCode,
  codex: readCodex,
  gemini: readGemini,
  pi: readPi,
} as const;
