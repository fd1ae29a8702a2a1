import type { CacheLife } from "../../core/model-settings.ts";
import type { CallMeter } from "./call-meter.ts";

/** Options of one call of a model, for the clients that know them. */
export interface CallOptions {
  /** How long the provider is to keep what it has read, for the next call. */
  readonly cache_life: CacheLife;
  /** True if the provider is to leave out reasoning that does not follow the prefix with which it was given. */
  readonly drops_reasoning: boolean;
  /** Hears what arrives. */
  readonly meter: CallMeter;
}
