import { RepriseError } from "./errors.ts";

/** Limits of one exchange, with the exchanges of its sub-agents. */
export interface ExchangeLimits {
  /** Sub-agents that run at once; one that waits for its own does not count. */
  readonly childrenAtOnce: number;
  /** Sub-agents that it begins. */
  readonly children: number;
  /** Calls of models. */
  readonly modelCalls: number;
}

/** Without other ones. */
export const EXCHANGE_LIMITS: ExchangeLimits = {
  childrenAtOnce: 4,
  children: 32,
  modelCalls: 600,
};

/**
 * Reads the environment: REPRISE_CHILDREN_AT_ONCE, REPRISE_CHILDREN and REPRISE_MODEL_CALLS, each a
 * whole number of 1 or more; a blank one counts as unset. `otherwise` is what counts then, before the
 * defaults. Error codes: `config_invalid`.
 */
export function exchangeLimits(
  env: Readonly<Record<string, string | undefined>>,
  otherwise: Partial<ExchangeLimits> = {},
): ExchangeLimits {
  const fallbacks = { ...EXCHANGE_LIMITS, ...otherwise };
  const read = (name: string, fallback: number): number => {
    const text = env[name]?.trim() ?? "";
    const value = text === "" ? fallback : Number(text);
    if (Number.isSafeInteger(value) && value >= 1) {
      return value;
    }
    throw new RepriseError(
      "config_invalid",
      `${name} must be a whole number of 1 or more; correct or unset it.`,
    );
  };
  return {
    childrenAtOnce: read("REPRISE_CHILDREN_AT_ONCE", fallbacks.childrenAtOnce),
    children: read("REPRISE_CHILDREN", fallbacks.children),
    modelCalls: read("REPRISE_MODEL_CALLS", fallbacks.modelCalls),
  };
}
