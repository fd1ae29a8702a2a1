import { RepriseError } from "./errors.ts";

/**
 * Scopes of a limit of tokens, read and written ones together: one exchange with its sub-agents, the session alone,
 * and the session with all its sub-agents.
 */
export const TOKEN_LIMITS = ["exchange", "session", "tree"] as const;
export type TokenLimit = (typeof TOKEN_LIMITS)[number];
export type TokenLimits = Readonly<Partial<Record<TokenLimit, number>>>;

/** Tokens that the models of a session have used, as far as a limit asks for them. */
export type TokenUse = Readonly<
  Record<
    TokenLimit,
    {
      readonly used: number;
      /** With what a person has allowed besides. */
      readonly limit: number | null;
      /** As it was set. */
      readonly set: number | null;
    }
  >
>;

const USED: Readonly<Record<TokenLimit, (used: number, limit: number) => string>> = {
  exchange: (used, limit) =>
    `The exchange and its sub-agents have used ${used} tokens of the ${limit} that an exchange may use.`,
  session: (used, limit) => `The session has used ${used} tokens of the ${limit} that it may use.`,
  tree: (used, limit) =>
    `The session and its sub-agents have used ${used} tokens of the ${limit} that they may use.`,
};

const ADVICE: Readonly<Record<TokenLimit, string>> = {
  exchange:
    "Continue it to let it use as many again, or set another limit with --token-limit exchange=<n>.",
  session: "Set another limit with --token-limit session=<n>, or begin a new session.",
  tree: "Set another limit with --token-limit tree=<n>, or begin a new session.",
};

/** The limit because of which no model may be called any more; null if one may. */
export function reachedLimit(use: TokenUse): TokenLimit | null {
  // the widest first: to continue helps with an exchange's only
  return (
    TOKEN_LIMITS.toReversed().find((name) => use[name].used >= (use[name].limit ?? Infinity)) ??
    null
  );
}

/** `budget_reached` for a limit. */
export function budgetReached(kind: TokenLimit, use: TokenUse): RepriseError {
  return new RepriseError("budget_reached", `${usedOf(kind, use)} ${ADVICE[kind]}`);
}

/** In one sentence. */
export function usedOf(kind: TokenLimit, use: TokenUse): string {
  const { used, limit } = use[kind];
  return USED[kind](used, limit ?? 0);
}

/** For which limit a person is asked for more tokens. */
export interface AskedLimit {
  readonly kind: TokenLimit;
  /** The limit as it was set: a yes is void once another one is set. */
  readonly limit: number;
  /** The number of the exchange that asks. */
  readonly n: number;
  /** Tokens that may be used after a yes. */
  readonly raised: number;
}

/** Returns the id of the call of such a question. No call of a tool can have it: those have no colon. */
export function limitCallId({ kind, limit, n, raised }: AskedLimit): string {
  return ["limit", kind, limit, n, raised].join(":");
}

/** Null for the id of another call. */
export function readLimitCallId(call_id: string): AskedLimit | null {
  const [, name, limit, n, raised] = /^limit:(\w+):(\d+):(\d+):(\d+)$/.exec(call_id) ?? [];
  const kind = TOKEN_LIMITS.find((each) => each === name);
  return kind === undefined
    ? null
    : { kind, limit: Number(limit), n: Number(n), raised: Number(raised) };
}
