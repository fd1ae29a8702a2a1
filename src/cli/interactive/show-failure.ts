import { isRepriseError } from "../../core/errors.ts";
import { noticeLine } from "../context.ts";
import { showError } from "../show-error.ts";
import type { LinesInput } from "./lines.ts";

/** Shows what went wrong in a conversation, with what helps there, and returns the exit code. */
export function showFailure(
  { cli, conversation, json }: Pick<LinesInput, "cli" | "conversation" | "json">,
  error: unknown,
): number {
  const exitCode = showError(cli, error, json, conversation.current()?.id);
  if (isRepriseError(error, "session_busy") && !json) {
    noticeLine(cli, "With --wait reprise waits for it, with --take-over it stops it.");
  }
  return exitCode;
}
