import type { FastifyRequest } from "fastify";

import { isRepriseError } from "../../core/errors.ts";
import { resolveSession } from "../../store/records/sessions/read.ts";
import type { Store } from "../../store/store.ts";
import { problemOf } from "../problem.ts";

/** Errors about the content of a request, not about its target. */
const JUDGING: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/**
 * The error to answer with: for a session that does not exist, that it does not exist, whatever else
 * is wrong with the request. Only refused requests pay for the question.
 */
export async function sessionFirst(
  error: unknown,
  request: FastifyRequest,
  store: Store,
): Promise<unknown> {
  const id = sessionIdOf(request);
  if (id === null || !JUDGING.has(problemOf(error).status)) {
    return error;
  }
  try {
    await store.read(resolveSession, { reference: id });
    return error;
  } catch (unresolved) {
    return isRepriseError(unresolved, "session_not_found", "ambiguous_id") ? unresolved : error;
  }
}

function sessionIdOf({ routeOptions, params }: FastifyRequest): string | null {
  const isSession = routeOptions.url?.startsWith("/api/sessions/:id") === true;
  return isSession && typeof params === "object" && params !== null && "id" in params
    ? String(params.id)
    : null;
}
