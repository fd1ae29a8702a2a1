import { RepriseError } from "../core/errors.ts";
import { EXCHANGE_LIMITS, type ExchangeLimits } from "./exchange-tree.ts";

/**
 * Reads the environment: REPRISE_CHILDREN_AT_ONCE, REPRISE_CHILDREN and REPRISE_MODEL_CALLS, each a
 * whole number of 1 or more; a blank one counts as unset. Error codes: `config_invalid`.
 */
export function exchangeLimits(env: Readonly<Record<string, string | undefined>>): ExchangeLimits {
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
    childrenAtOnce: read("REPRISE_CHILDREN_AT_ONCE", EXCHANGE_LIMITS.childrenAtOnce),
    children: read("REPRISE_CHILDREN", EXCHANGE_LIMITS.children),
    modelCalls: read("REPRISE_MODEL_CALLS", EXCHANGE_LIMITS.modelCalls),
  };
}
