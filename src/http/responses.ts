import { Type, type TSchema } from "typebox";

import { named, Problem } from "../core/schemas/schemas.ts";
import { PROBLEM_TYPE } from "./problem.ts";

/** A header of an answer, for the OpenAPI document. */
export interface AnswerHeader {
  readonly type: "string" | "integer";
  readonly description: string;
}

export interface ResponseText {
  readonly description: string;
  readonly headers?: Readonly<Record<string, AnswerHeader>>;
}

export const REQUEST_ID: AnswerHeader = {
  type: "string",
  description: "The id under which the service has logged the request.",
};

/** The content type of an answer that the store wrote; Fastify sets it on others. */
export const JSON_TYPE = "application/json; charset=utf-8";

/** A JSON answer: the schema is also what it is serialized by, so no other field gets out. */
export function json<T extends TSchema>(schema: T, answer: ResponseText): T {
  return { ...schema, ...answer, headers: { "X-Request-Id": REQUEST_ID, ...answer.headers } };
}

/**
 * A JSON answer that the store has written: the schema describes the text, which is sent unchanged.
 */
export function written(schema: TSchema, answer: ResponseText) {
  return json(Type.Unsafe<string>(schema), answer);
}

/** The answer without a body to a client that has the current one (`If-None-Match`). */
export const NOT_MODIFIED = {
  304: {
    type: "null",
    description: "The client has the current answer.",
    headers: {
      "X-Request-Id": REQUEST_ID,
      ETag: { type: "string", description: "Of the current answer." },
    },
  },
} as const;

/** Problems that every call may return. */
const COMMON = {
  400: "The request is not HTTP, or its body is not JSON in UTF-8.",
  401: "The bearer token is missing or invalid.",
  403: "The Host or Origin header is not the service's own.",
  408: "The request took too long to arrive.",
  431: "The headers are more than 16 KiB.",
  422: "The body, the query or a header does not fit; `faults` lists where.",
  500: "The service failed.",
  503: "The database is unavailable; try again later.",
} as const;

const HEADERS: Readonly<Record<number, Readonly<Record<string, AnswerHeader>>>> = {
  401: { "WWW-Authenticate": { type: "string", description: "`Bearer`." } },
  503: { "Retry-After": { type: "integer", description: "Seconds after which to try again." } },
};

/** The problems of a call: those that every call has, and its own by status. */
export function problems(own: Readonly<Record<number, string>> = {}) {
  const answers: Record<number, object> = {};
  for (const [status, description] of Object.entries({ ...COMMON, ...own })) {
    answers[Number(status)] = {
      description,
      headers: { "X-Request-Id": REQUEST_ID, ...HEADERS[Number(status)] },
      content: { [PROBLEM_TYPE]: { schema: named(Problem) } },
    };
  }
  return answers;
}
