import type { CallToolResult } from "@modelcontextprotocol/server";

import { ClientError } from "../client/client-error.ts";
import { isRepriseError } from "../core/errors.ts";
import type { Shown } from "./shown.ts";

/** A result as JSON text, for a model, and as a value, for a program. */
export function resultOf(found: object): CallToolResult {
  return {
    content: [{ type: "text", text: JSON.stringify(found) }],
    structuredContent: { ...found },
  };
}

/**
 * An error as a model reads it: the code, the sentence and what belongs to it, as in a problem of the HTTP API. An unknown
 * error shows nothing of itself.
 */
export function errorResult(error: unknown, shown: Shown): CallToolResult {
  return { ...resultOf({ error: shownError(error, shown) }), isError: true };
}

function shownError(error: unknown, shown: Shown): object {
  if (!(error instanceof ClientError) && !isRepriseError(error)) {
    return { code: "internal", detail: "The call failed in Reprise; try it again." };
  }
  const { code, message, faults, candidates, open_question } = error;
  return {
    code,
    detail: shown.text(message),
    ...(faults.length === 0 ? {} : { faults }),
    ...(candidates.length === 0
      ? {}
      : { candidates: candidates.map((each) => ({ ...each, title: shown.title(each.title) })) }),
    ...(open_question === null ? {} : { open_question }),
  };
}
