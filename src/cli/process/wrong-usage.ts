import { RepriseError } from "../../core/errors.ts";

/** The error for invalid options and arguments. */
export function wrongUsage(sentence: string): RepriseError {
  return new RepriseError("invalid_usage", sentence);
}

/** Reads the value of an option that takes a whole number. */
export function wholeNumber(option: string, min: number, max = Infinity): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) {
      return value;
    }
    const range = max === Infinity ? `from ${min}` : `from ${min} to ${max}`;
    throw wrongUsage(`${option} takes a whole number ${range}.`);
  };
}
