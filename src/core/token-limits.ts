import { RepriseError } from "./errors.ts";

/**
 * What may be limited in tokens, read and written ones together: one exchange with its sub-agents,
 * the session alone, and the session with all its sub-agents.
 */
export const TOKEN_LIMITS = ["exchange", "session", "tree"] as const;
export type TokenLimit = (typeof TOKEN_LIMITS)[number];
export type TokenLimits = Readonly<Partial<Record<TokenLimit, number>>>;

/** What the models of a session have used, as far as a limit asks for it. */
export type TokenUse = Readonly<
  Record<TokenLimit, { readonly used: number; readonly limit: number | null }>
>;

const REACHED: Readonly<Record<TokenLimit, (used: number, limit: number) => string>> = {
  exchange: (used, limit) =>
    `The exchange and its sub-agents have used ${used} tokens of the ${limit} that an exchange may use. Continue it to let it use as many again, or set another limit with --token-limit exchange=<n>.`,
  session: (used, limit) =>
    `The session has used ${used} tokens of the ${limit} that it may use. Set another limit with --token-limit session=<n>, or begin a new session.`,
  tree: (used, limit) =>
    `The session and its sub-agents have used ${used} tokens of the ${limit} that they may use. Set another limit with --token-limit tree=<n>, or begin a new session.`,
};

/** `budget_reached` if no model may be called any more; null if one may. */
export function reachedLimit(use: TokenUse): RepriseError | null {
  // the widest first: to continue helps with an exchange's only
  const kind = TOKEN_LIMITS.toReversed().find(
    (name) => use[name].used >= (use[name].limit ?? Infinity),
  );
  if (kind === undefined) {
    return null;
  }
  const { used, limit } = use[kind];
  return new RepriseError("budget_reached", REACHED[kind](used, limit ?? 0));
}
