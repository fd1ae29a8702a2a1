/** `failed`: something is wrong. `warning`: it works, and somebody should look. */
export type CheckStatus = "ok" | "warning" | "failed";

/** One thing that was looked at. */
export interface Check {
  readonly name: string;
  readonly status: CheckStatus;
  /** What was found and, where it is not well, what to do. */
  readonly sentence: string;
}
