import { CommanderError } from "commander";

import { RepriseError } from "../core/errors.ts";
import { oneLine } from "../core/text.ts";
import { type CliContext, noticeLine } from "./context.ts";
import { exitCodeOf } from "./exit-code.ts";

/**
 * Says on standard error what went wrong, in one sentence and without a stack trace, and returns
 * the exit code. With `json` the sentence is a JSON document on one line.
 */
export function showError(cli: CliContext, error: unknown, json: boolean): number {
  if (error instanceof CommanderError) {
    // help and version end this way too; commander has written its own sentence
    return error.exitCode === 0 ? 0 : 2;
  }
  const known = error instanceof RepriseError ? error : internal(cli, error);
  if (json) {
    noticeLine(cli, JSON.stringify(errorDocument(known)));
  } else {
    noticeLine(cli, `reprise: ${known.message} [${known.code}]`);
    for (const { id, title, last_activity_at } of known.candidates) {
      noticeLine(cli, `  ${id}  ${last_activity_at}  ${oneLine(title ?? "(no message yet)")}`);
    }
    for (const fault of known.faults) {
      noticeLine(cli, `  ${fault.pointer}: ${fault.message}`);
    }
  }
  return exitCodeOf(known.code);
}

/** What programs read: the same fields as the HTTP API's problem documents. */
export function errorDocument(error: RepriseError): Record<string, unknown> {
  return {
    code: error.code,
    detail: error.message,
    ...(error.candidates.length > 0 ? { candidates: error.candidates } : {}),
    ...(error.faults.length > 0 ? { faults: error.faults } : {}),
  };
}

/** A fault of ours: REPRISE_DEBUG=1 shows where. */
function internal(cli: CliContext, error: unknown): RepriseError {
  if (cli.env["REPRISE_DEBUG"] === "1" && error instanceof Error) {
    noticeLine(cli, error.stack ?? error.message);
  }
  return new RepriseError(
    "internal",
    "Something went wrong inside Reprise; what was stored is safe. Set REPRISE_DEBUG=1 to see where, and report it.",
    { cause: error },
  );
}
