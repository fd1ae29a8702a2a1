import { RepriseError } from "../../core/errors.ts";

/** For JSON.stringify; `this` is the object that holds the member, before any `toJSON`. */
export type Replacer = (this: unknown, key: string, value: unknown) => unknown;

/**
 * JSON of a value. A value inside itself becomes "[Circular]", as LangGraph's own serializer has
 * it. Error codes: `agent_failed` for what JSON cannot hold (a bigint, thousands of
 * lists in each other).
 */
export function stringify(value: unknown, replacer: Replacer): string {
  try {
    return JSON.stringify(value, replacer) ?? "null";
  } catch {
    // circular values may end here
  }
  try {
    return JSON.stringify(value, withoutCycles(replacer)) ?? "null";
  } catch (error) {
    if (error instanceof RangeError) {
      throw new RepriseError(
        "agent_failed",
        "The agent's state holds a value that is nested too deeply, or is too long, to be stored as JSON. Nest lists and records less deeply, or divide the value.",
        { cause: error },
      );
    }
    throw new RepriseError(
      "agent_failed",
      "The agent's state holds a value that cannot be stored as JSON, such as a bigint. Use text, numbers, lists and objects only.",
      { cause: error },
    );
  }
}

interface Ancestor {
  readonly raw: unknown;
  readonly written: object;
}

function withoutCycles(replacer: Replacer): Replacer {
  const ancestors: Ancestor[] = [];
  return function (this: unknown, key, value) {
    const written = replacer.call(this, key, value);
    if (typeof written !== "object" || written === null) {
      return written;
    }
    while (ancestors.length > 0 && ancestors.at(-1)?.written !== this) {
      ancestors.pop();
    }
    const raw = memberOf(this, key);
    if (ancestors.some((one) => one.raw === raw || one.written === written)) {
      return "[Circular]";
    }
    ancestors.push({ raw, written });
    return written;
  };
}

/** The member in its holder, unchanged: JSON.stringify hands over what `toJSON` made of it. */
export function memberOf(holder: unknown, key: string): unknown {
  return typeof holder === "object" && holder !== null ? Reflect.get(holder, key) : undefined;
}
