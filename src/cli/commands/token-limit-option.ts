import { TOKEN_LIMITS, type TokenLimits } from "../../core/token-limits.ts";
import { wrongUsage } from "../process/wrong-usage.ts";

/** Reads one `--token-limit <what>=<n>` after those before it. Error codes: `invalid_usage`. */
export function addTokenLimit(text: string, before: TokenLimits = {}): TokenLimits {
  const [, what = "", number = ""] = /^([a-z]+)=([1-9]\d{0,14})$/.exec(text) ?? [];
  const name = TOKEN_LIMITS.find((known) => known === what);
  if (name === undefined) {
    throw wrongUsage(
      `--token-limit takes ${TOKEN_LIMITS.join("=<n>, ")}=<n>, with a whole number of tokens from 1.`,
    );
  }
  return { ...before, [name]: Number(number) };
}
