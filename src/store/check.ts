import { isRepriseError } from "../core/errors.ts";

/** `failed`: something is wrong. `warning`: it works, and somebody should check it. */
export type CheckStatus = "ok" | "warning" | "failed";

/** The result of one check. */
export interface Check {
  readonly name: string;
  readonly status: CheckStatus;
  /** Sentence that says what was found and, if something is wrong, what to do. */
  readonly sentence: string;
}

export function ok(name: string, sentence: string): Check {
  return { name, status: "ok", sentence };
}

export function warning(name: string, sentence: string): Check {
  return { name, status: "warning", sentence };
}

export function failed(name: string, sentence: string): Check {
  return { name, status: "failed", sentence };
}

/** The failed check for a RepriseError; any other error is thrown on. */
export function failedBy(error: unknown, name: string, prefix = ""): Check {
  if (!isRepriseError(error)) {
    throw error;
  }
  return failed(name, `${prefix}${error.message}`);
}
