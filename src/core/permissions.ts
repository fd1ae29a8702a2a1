/**
 * Questions before a tool takes effect. `ask`: each change. `edits`: no change of an ordinary file in the session's
 * folder. `auto`: as `edits`. `all`: nothing but changes of protected files. `plan`: nothing, because nothing is
 * changed.
 */
export const PERMISSION_MODES = ["ask", "edits", "auto", "all", "plan"] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** Modes that a session keeps; `plan` is its planning mode, which ends without losing the other one. */
export const KEPT_MODES = ["ask", "edits", "auto", "all"] as const satisfies PermissionMode[];
export type KeptMode = (typeof KEPT_MODES)[number];

/** A call that a person allowed, for as long as the session or one exchange of it lasts. */
export interface GivenRule {
  /** As `ruleText` writes it. */
  readonly rule: string;
  /** The number of the exchange; null for the whole session. */
  readonly n: number | null;
}
