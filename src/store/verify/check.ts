/** `failed`: something is wrong. `warning`: it works, and somebody should look. */
export type CheckStatus = "ok" | "warning" | "failed";

/** The result of one check. */
export interface Check {
  readonly name: string;
  readonly status: CheckStatus;
  /** What was found and, if something is wrong, what to do. */
  readonly sentence: string;
}
