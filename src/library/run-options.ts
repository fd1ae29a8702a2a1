import type { ExchangeEvent } from "../exchange/events.ts";
import type { WhenBusy } from "../exchange/lease-holder.ts";
import { RepriseError } from "../core/errors.ts";
import { requireOptions } from "../core/options.ts";
import { REPEATS, type Repeats } from "../core/questions.ts";

export interface RunOptions {
  /** Aborting it stops the exchange; the session can be continued. */
  readonly signal?: AbortSignal;
  /**
   * Called with each event of the exchange, as docs/protocol/engine.md describes them. What it throws is an
   * uncaught exception of the process; the exchange continues.
   */
  readonly onEvent?: (event: ExchangeEvent) => void;
  /**
   * Names the agent in the session. If it is not given: the graph's own name, else the name that the
   * session has, else `agent`.
   */
  readonly agent?: string;
  /** Names of the tools that may be run twice. All others count as unsafe to repeat. */
  readonly repeatable?: readonly string[];
  /**
   * Fate of calls of other tools that may have taken effect when their exchange continues. `never`, the default: they
   * get the result "outcome unknown". `always`: they run again. `ask`: the exchange ends as `waiting`, and the
   * session has a question, which a person answers in a terminal or over HTTP; continue it then.
   */
  readonly repeats?: Repeats;
  /** True to begin a fresh context first; another agent needs one. */
  readonly fresh?: boolean;
  /** Reaction if another exchange holds the session; `refuse` if it is not given. */
  readonly whenBusy?: WhenBusy;
}

interface Rule {
  readonly isValid: (value: unknown) => boolean;
  /** Ends the sentence "`name` must be …". */
  readonly expected: string;
}

const FUNCTION: Rule = { isValid: (value) => typeof value === "function", expected: "a function" };

const RULES: { readonly [Name in keyof RunOptions]-?: Rule } = {
  signal: { isValid: (value) => value instanceof AbortSignal, expected: "an AbortSignal" },
  onEvent: FUNCTION,
  agent: { isValid: (value) => typeof value === "string", expected: "a string" },
  repeatable: {
    isValid: (value) => Array.isArray(value) && value.every((name) => typeof name === "string"),
    expected: "a list of tool names",
  },
  repeats: {
    isValid: (value) => REPEATS.some((choice) => choice === value),
    expected: '"never", "ask" or "always"',
  },
  fresh: { isValid: (value) => typeof value === "boolean", expected: "true or false" },
  whenBusy: {
    isValid: (value) => ["refuse", "wait", "take_over"].some((choice) => choice === value),
    expected: '"refuse", "wait" or "take_over"',
  },
};

/** The options of `run`, which a program in JavaScript may get wrong. Error codes: `invalid_request`. */
export function requireRunOptions(options: RunOptions): RunOptions {
  const given: object = requireOptions(options, "invalid_request");
  for (const [name, { isValid, expected }] of Object.entries(RULES)) {
    const value: unknown = Reflect.get(given, name);
    if (value !== undefined && !isValid(value)) {
      throw new RepriseError("invalid_request", `\`${name}\` must be ${expected}.`);
    }
  }
  return options;
}
