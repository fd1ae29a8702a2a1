/**
 * Where a message or a change came from: a person at a terminal, `-p` or input without a terminal,
 * the HTTP API, or the agent itself.
 */
export const ORIGINS = ["terminal", "prompt", "http", "agent"] as const;
export type Origin = (typeof ORIGINS)[number];

/** Who stores something. */
export interface Caller {
  readonly origin: Origin;
  /**
   * True for a caller with the service's token, and for the user who runs the command line. What
   * others store reaches the agent only after somebody confirmed it.
   */
  readonly authenticated: boolean;
  /** Who is kept for what the caller consents to: `user@host`, or `TOKEN_HOLDER`. Unknown if it is not given. */
  readonly who?: string | undefined;
}

/** The agent acts for the user who runs the exchange. */
export const AGENT: Caller = { origin: "agent", authenticated: true };
