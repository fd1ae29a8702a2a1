import { RequestError } from "@agentclientprotocol/sdk/unstable";

import { type ErrorCode, isRepriseError, type RepriseError } from "../core/errors.ts";
import { INVALID_PARAMS } from "./messages.ts";

/** Codes of the protocol for what it distinguishes. */
const RESOURCE_NOT_FOUND = -32_002;
const AUTH_REQUIRED = -32_000;
/** Code of JSON-RPC for everything else. */
const INTERNAL_ERROR = -32_603;

const CODES: Readonly<Partial<Record<ErrorCode, number>>> = {
  session_not_found: RESOURCE_NOT_FOUND,
  model_key_missing: AUTH_REQUIRED,
  model_unauthorized: AUTH_REQUIRED,
  invalid_request: INVALID_PARAMS,
  invalid_usage: INVALID_PARAMS,
  body_too_large: INVALID_PARAMS,
  model_unknown: INVALID_PARAMS,
  effort_unknown: INVALID_PARAMS,
  persona_not_found: INVALID_PARAMS,
  persona_invalid: INVALID_PARAMS,
  folder_missing: INVALID_PARAMS,
  folder_not_trusted: INVALID_PARAMS,
};

/**
 * Runs a request and turns what it throws into an error of the protocol: the sentence, and our code in `data.code`. Of what was
 * not thrown on purpose a client learns nothing; `log` gets it.
 */
export async function answered<Answer>(
  log: (error: unknown) => void,
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (isRepriseError(error)) {
      throw requestError(error);
    }
    if (error instanceof RequestError) {
      throw error;
    }
    log(error);
    throw new RequestError(
      INTERNAL_ERROR,
      "Reprise has failed at this request. Its log, which is standard error, has more.",
      { code: "internal" satisfies ErrorCode },
    );
  }
}

function requestError({ code, message, failure }: RepriseError): RequestError {
  const resets = failure?.resets_at ?? null;
  return new RequestError(CODES[code] ?? INTERNAL_ERROR, message, {
    code,
    ...(resets === null ? {} : { resets_at: resets }),
  });
}
