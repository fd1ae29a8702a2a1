/** How long a provider keeps what it has read of a conversation, so that the next call pays a tenth for it. */
export const CACHE_LIVES = ["5m", "1h", "off"] as const;
export type CacheLife = (typeof CACHE_LIVES)[number];

/** Pays if the next call comes within five minutes; what is written costs a quarter more. */
export const DEFAULT_CACHE_LIFE: CacheLife = "5m";
