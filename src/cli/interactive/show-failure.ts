import { type ErrorCode, isRepriseError } from "../../core/errors.ts";
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

/** Failures after which the message is stored and waits for its answer. */
const RETRIED: readonly ErrorCode[] = [
  "model_unauthorized",
  "model_unreachable",
  "model_rate_limited",
  "model_failed",
];

/** Says how the message that failed gets its answer: sent again, it would be stored twice. */
export function offerRetry({ cli, json }: Pick<LinesInput, "cli" | "json">, error: unknown): void {
  if (isRepriseError(error, ...RETRIED) && !json && cli.stdin.isTTY === true) {
    noticeLine(cli, "The message is stored; /retry asks for its answer again.");
  }
}
