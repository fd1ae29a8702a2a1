import type { Secret } from "../../core/secrets.ts";
import type { ModelConfig } from "./config.ts";

/** A model that is to be tried. */
export interface ModelTrial {
  /** As `provider:model`. */
  readonly name: string;
  /** Holds the key of its provider. */
  readonly config: ModelConfig;
  /** Taken out of what the provider answers. */
  readonly secrets: readonly Secret[];
  readonly signal: AbortSignal;
}
