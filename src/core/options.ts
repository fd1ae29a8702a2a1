import { type ErrorCode, RepriseError } from "./errors.ts";

/**
 * The options that a program gave, which may be written in JavaScript. Throws with the code if they
 * are not an object.
 */
export function requireOptions<Options extends object>(options: Options, code: ErrorCode): Options {
  const given: unknown = options;
  if (typeof given !== "object" || given === null) {
    throw new RepriseError(
      code,
      "The options are not an object. Give an object, or leave the options out.",
    );
  }
  return options;
}
