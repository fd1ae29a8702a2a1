import { RepriseError } from "../core/errors.ts";
import type { Argv } from "../core/plan-runs.ts";
import { oneLine } from "../core/text/terminal-text.ts";
import type { JudgedCheck } from "./check-start.ts";

/** Refuses checks that rules deny. Error codes: `invalid_usage`. */
export function refuseDenied(judged: readonly JudgedCheck[]): void {
  const denied = judged.find(({ decision }) => decision.effect === "deny");
  if (denied !== undefined) {
    throw new RepriseError(
      "invalid_usage",
      `The check ${shownArgv(denied.argv)} is denied by the rule ${oneLine(denied.decision.rule)}. Remove the check or the rule.`,
    );
  }
}

/** The first check about which a person has to be asked; null for none. */
export function firstAsking(judged: readonly JudgedCheck[]): JudgedCheck | null {
  return judged.find(({ decision }) => decision.effect === "ask") ?? null;
}

/**
 * Refuses checks about which a person would have to be asked, where nobody can be. `advice` says how to permit a call.
 *
 * Error codes: `invalid_usage`.
 */
export function refuseAsking(
  judged: readonly JudgedCheck[],
  advice: (call: string) => string,
): void {
  const first = firstAsking(judged);
  if (first !== null) {
    const call = `run_command(${oneLine(first.argv.join(" "))})`;
    throw new RepriseError(
      "invalid_usage",
      `The check ${shownArgv(first.argv)} needs your consent, and nobody can be asked. ${advice(call)}`,
    );
  }
}

/** Returns a command on one line, with quotes around words that need them. */
export function shownArgv(argv: Argv): string {
  return oneLine(
    argv.map((word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : JSON.stringify(word))).join(" "),
  );
}
