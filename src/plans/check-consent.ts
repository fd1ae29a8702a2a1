import { RepriseError } from "../core/errors.ts";
import type { Argv } from "../core/plan-runs.ts";
import { oneLine } from "../core/text/terminal-text.ts";
import { plainLine } from "../workspace/commands/plain-line.ts";
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
 * Refuses checks about which a person would have to be asked, where nobody can be. `advice` says how to permit a call with
 * this rule, which is null if no rule can name the command.
 *
 * Error codes: `invalid_usage`.
 */
export function refuseAsking(
  judged: readonly JudgedCheck[],
  advice: (rule: string | null) => string,
): void {
  const first = firstAsking(judged);
  if (first !== null) {
    const words = plainLine(first.argv);
    const rule = words === null ? null : `run_command(${words})`;
    throw new RepriseError(
      "invalid_usage",
      `The check ${shownArgv(first.argv)} needs your consent, and nobody can be asked. ${advice(rule)}`,
    );
  }
}

/** Returns a command on one line, with quotes around words that need them. */
export function shownArgv(argv: Argv): string {
  return oneLine(
    argv.map((word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : JSON.stringify(word))).join(" "),
  );
}
