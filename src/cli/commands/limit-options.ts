import { LIMIT_SCOPES, type ScopedLimits } from "../../core/cost/limits.ts";
import { microsOf } from "../../core/cost/money.ts";
import { wrongUsage } from "../process/wrong-usage.ts";

/** Reads one `--token-limit <what>=<n>` after those before it. Error codes: `invalid_usage`. */
export function addTokenLimit(text: string, before: ScopedLimits = {}): ScopedLimits {
  const [scope, number] = limitIn(text, /^[1-9]\d{0,14}$/);
  if (scope === undefined) {
    throw wrongUsage(
      `--token-limit takes ${LIMIT_SCOPES.join("=<n>, ")}=<n>, with a whole number of tokens from 1.`,
    );
  }
  return { ...before, [scope]: Number(number) };
}

/** Reads one `--price-limit <what>=<USD>`, in micro-dollars, in the same way. */
export function addPriceLimit(text: string, before: ScopedLimits = {}): ScopedLimits {
  const [scope, number] = limitIn(text, /^\d{1,6}(?:\.\d{1,6})?$/);
  const micros = microsOf(Number(number));
  if (scope === undefined || micros === 0) {
    throw wrongUsage(
      `--price-limit takes ${LIMIT_SCOPES.join("=<USD>, ")}=<USD>, with an amount of dollars such as 5 or 0.25.`,
    );
  }
  return { ...before, [scope]: micros };
}

function limitIn(text: string, form: RegExp) {
  const [what = "", number = "", ...more] = text.split("=");
  const scope = LIMIT_SCOPES.find((known) => known === what);
  return more.length === 0 && form.test(number) ? ([scope, number] as const) : ([] as const);
}
