import { RepriseError } from "../errors.ts";
import { exactDollars } from "./money.ts";

/** Scopes of a limit: one exchange with its sub-agents, the session alone, and the session with all its sub-agents. */
export const LIMIT_SCOPES = ["exchange", "session", "tree"] as const;
export type LimitScope = (typeof LIMIT_SCOPES)[number];

/** Limits of one kind by scope: of tokens, read and written ones together, or of the price in micro-dollars. */
export type ScopedLimits = Readonly<Partial<Record<LimitScope, number>>>;

/** Limits of tokens have the name of their scope, those of the price another one. */
const LIMITS = [
  "exchange",
  "exchange_price",
  "session",
  "session_price",
  "tree",
  "tree_price",
] as const;
export type Limit = (typeof LIMITS)[number];

/** Returns the name of the limit of the price in a scope. */
export function priceLimit(scope: LimitScope): Limit {
  return `${scope}_price`;
}

function isOfPrice(limit: Limit): boolean {
  return limit.endsWith("_price");
}

interface Used {
  readonly used: number;
  /** With what a person has allowed besides. */
  readonly limit: number | null;
  /** As it was set. */
  readonly set: number | null;
  /** True if the prices of some requests are unknown, so that they are not part of it. */
  readonly isAtLeast?: boolean;
}

/** Usage of the models of a session, as far as a limit asks for it. */
export type LimitUse = Readonly<Record<Limit, Used>>;

type Sentence = (used: string, limit: string) => string;
const SUBJECTS: Readonly<Record<LimitScope, string>> = {
  exchange: "The exchange and its sub-agents have",
  session: "The session has",
  tree: "The session and its sub-agents have",
};
const TOKENS: Readonly<Record<LimitScope, Sentence>> = {
  exchange: (used, limit) => `used ${used} tokens of the ${limit} that an exchange may use.`,
  session: (used, limit) => `used ${used} tokens of the ${limit} that it may use.`,
  tree: (used, limit) => `used ${used} tokens of the ${limit} that they may use.`,
};
const PRICES: Readonly<Record<LimitScope, Sentence>> = {
  exchange: (used, limit) => `cost ${used} of the ${limit} that an exchange may cost.`,
  session: (used, limit) => `cost ${used} of the ${limit} that it may cost.`,
  tree: (used, limit) => `cost ${used} of the ${limit} that they may cost.`,
};

/** Returns the limit because of which no model may be called any more; null if one may. */
export function reachedLimit(use: LimitUse): Limit | null {
  // the widest first: to continue helps with an exchange's only
  return (
    LIMITS.toReversed().find((name) => use[name].used >= (use[name].limit ?? Infinity)) ?? null
  );
}

/** `budget_reached` for a limit of tokens, `price_limit_reached` for one of the price. */
export function limitReached(kind: Limit, use: LimitUse): RepriseError {
  const code = isOfPrice(kind) ? "price_limit_reached" : "budget_reached";
  const is_lasting = scopeOf(kind) !== "exchange";
  return new RepriseError(code, `${usedOf(kind, use)} ${adviceAt(kind)}`, { is_lasting });
}

/** In one sentence. */
export function usedOf(kind: Limit, use: LimitUse): string {
  const { used, limit, isAtLeast = false } = use[kind];
  const scope = scopeOf(kind);
  const words = (isOfPrice(kind) ? PRICES : TOKENS)[scope];
  const shown = `${isAtLeast ? "at least " : ""}${amountOf(kind, used)}`;
  return `${SUBJECTS[scope]} ${words(shown, amountOf(kind, limit ?? 0))}`;
}

/** As much more of a limit, for a person. */
export function moreOf(kind: Limit, amount: number): string {
  return isOfPrice(kind) ? `${amountOf(kind, amount)} more` : `${amount} more tokens`;
}

function amountOf(kind: Limit, amount: number): string {
  return isOfPrice(kind) ? exactDollars(amount) : String(amount);
}

function adviceAt(kind: Limit): string {
  const scope = scopeOf(kind);
  const option = isOfPrice(kind) ? `--price-limit ${scope}=<USD>` : `--token-limit ${scope}=<n>`;
  return scope === "exchange"
    ? `Continue it to let it ${isOfPrice(kind) ? "cost as much" : "use as many"} again, or set another limit with ${option}.`
    : `Set another limit with ${option}, or begin a new session.`;
}

function scopeOf(kind: Limit): LimitScope {
  return LIMIT_SCOPES.find((scope) => kind.startsWith(scope)) ?? "exchange";
}

/** `price_unknown`: without a price of its model, a limit of the price cannot be kept. */
export function priceUnknown(model: string | null): RepriseError {
  return new RepriseError(
    "price_unknown",
    `The session has a limit of its price, and the price of ${model ?? "its model"} is unknown, so nothing was sent. Set its price in \`models\` of the config, or choose another model.`,
  );
}

/** `price_unknown`: nobody knows what an answer has cost, so a limit of the price cannot be kept. */
export function answerUnpriced(model: string): RepriseError {
  return new RepriseError(
    "price_unknown",
    `The session has a limit of its price, and the provider did not say what an answer of ${model} has used, so its price is unknown. The answer is stored. Continue to accept that, or choose another model.`,
  );
}

/** For which limit a person is asked for more. */
export interface AskedLimit {
  readonly kind: Limit;
  /** The limit as it was set: a yes is void once another one is set. */
  readonly limit: number;
  /** The number of the exchange that asks. */
  readonly n: number;
  /** Amount that may be used after a yes. */
  readonly raised: number;
}

/** Returns the id of the call of such a question. No call of a tool can have it: those have no colon. */
export function limitCallId({ kind, limit, n, raised }: AskedLimit): string {
  return ["limit", kind, limit, n, raised].join(":");
}

/** Null for the id of another call. */
export function readLimitCallId(call_id: string): AskedLimit | null {
  const [, name, limit, n, raised] = /^limit:(\w+):(\d+):(\d+):(\d+)$/.exec(call_id) ?? [];
  const kind = LIMITS.find((each) => each === name);
  return kind === undefined
    ? null
    : { kind, limit: Number(limit), n: Number(n), raised: Number(raised) };
}
