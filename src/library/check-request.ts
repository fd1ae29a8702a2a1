import type { Static } from "typebox";

import { RepriseError } from "../core/errors.ts";
import { PatchSessionRequest } from "../core/schemas/patch-session.ts";
import { DetailQuery, ListQuery } from "../core/schemas/query-schemas.ts";
import { CreateSessionRequest, named, PostMessageRequest } from "../core/schemas/schemas.ts";
import type { createChecks } from "../http/guards/validation.ts";
import { IdempotencyKey } from "../http/routes/api.ts";

const SCHEMAS = {
  create: named(CreateSessionRequest),
  append: named(PostMessageRequest),
  patch: named(PatchSessionRequest),
  list: ListQuery,
  detail: DetailQuery,
  key: IdempotencyKey,
} as const;

type Requests = { readonly [Name in keyof typeof SCHEMAS]: Static<(typeof SCHEMAS)[Name]> };

/** Returns a request that is valid. Error codes: `invalid_request`. */
export type CheckRequest = <Name extends keyof Requests>(
  name: Name,
  request: object,
) => Promise<Requests[Name]>;

/** Checks what a program asks for as the HTTP API checks its requests. */
export function createRequestCheck(): CheckRequest {
  let checks: Promise<ReturnType<typeof createChecks>> | null = null;
  return async (name, request) => {
    // loaded late: a program that only runs graphs needs none of it
    checks ??= import("../http/guards/validation.ts").then((module) => module.createChecks());
    const checkOf = await checks;
    const checked = checkOf(SCHEMAS[name])({ ...request }, "field");
    if ("error" in checked) {
      throw checked.error;
    }
    return checked.value as Requests[typeof name];
  };
}

/** The id of a session, or the beginning of one. Error codes: `invalid_request`. */
export function requireSessionReference(reference: string): string {
  const given: unknown = reference;
  if (typeof given !== "string") {
    throw new RepriseError(
      "invalid_request",
      "The session id is not a string. Give the id of a session, or its first 6 or more characters.",
    );
  }
  return reference;
}
