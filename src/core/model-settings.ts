/** How much a model reasons, from the least to the most. */
export const EFFORTS = ["off", "low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof EFFORTS)[number];

/** How long a provider keeps what it has read of a conversation, so that the next call pays a tenth for it. */
export const CACHE_LIVES = ["5m", "1h", "off"] as const;
export type CacheLife = (typeof CACHE_LIVES)[number];

/** Models that answer in the place of one that cannot, in the order in which they are tried. */
export type Fallback = readonly string[];
export const MAX_FALLBACKS = 5;

/** Choices for an exchange of a service that reaches a limit of its provider whose end is known. */
export const WHEN_LIMITED = ["fail", "wait"] as const;
export type WhenLimited = (typeof WHEN_LIMITED)[number];

/** What a session, a persona or the config chooses of them; null for nothing. */
export interface ModelChoice {
  readonly effort: Effort | null;
  readonly cache: CacheLife | null;
  readonly fallback: Fallback | null;
}

/** Pays if the next call comes within five minutes; what is written costs a quarter more. */
export const DEFAULT_CACHE_LIFE: CacheLife = "5m";

interface Chosen extends ModelChoice {
  /** The last message of the session; 0 without any. */
  readonly last_seq: number;
}

/** True if the provider reads the conversation once more because of a change: its cache does not hold it so. */
export function restartsCache(before: Chosen, change: Partial<ModelChoice>): boolean {
  const { effort = before.effort, cache = before.cache } = change;
  return before.last_seq > 0 && (effort !== before.effort || cache !== before.cache);
}

export const CACHE_RESTARTS = "The provider's cache of this conversation begins again.";
