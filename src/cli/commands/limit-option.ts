import { wrongUsage } from "../process/wrong-usage.ts";

/** The number of `--limit`; `all` is infinite. Error codes: `invalid_usage`. */
export function limitOf(text: string): number {
  if (text === "all") {
    return Number.POSITIVE_INFINITY;
  }
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw wrongUsage("--limit takes a whole number from 1, or all.");
  }
  return Number(text);
}
