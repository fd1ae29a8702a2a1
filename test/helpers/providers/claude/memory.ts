import { PromptCache } from "./cache.ts";

/** What Claude's mock remembers of earlier requests, and how its account is set up. */
export interface ClaudeMemory {
  readonly cache: PromptCache;
  /** Signatures of the thinking in answers, by the rest of their content. */
  readonly answers: Map<string, readonly (readonly string[])[]>;
  /** Contents of answers that ended in their middle: a request may end with them. */
  readonly paused: Set<string>;
  /** False for an account that was made before 31 August 2026. */
  readonly enforcesPrefix: boolean;
  /** True for a deployment of older models, which knows no beta header. */
  readonly refusesBetas: boolean;
}

export interface ClaudeAccount {
  readonly enforcesPrefix?: boolean;
  readonly refusesBetas?: boolean;
}

export function claudeMemory(
  { enforcesPrefix = true, refusesBetas = false }: ClaudeAccount,
  now: () => number,
): ClaudeMemory {
  return {
    cache: new PromptCache(now),
    answers: new Map(),
    paused: new Set(),
    enforcesPrefix,
    refusesBetas,
  };
}
