import { tokensIn } from "../rules.ts";
import type { InputUsage } from "../server.ts";

/** Prompts are cached from this length on, in steps: developers.openai.com prompt-caching, 2026-11-23. */
const SMALLEST = 1024;
const STEP = 128;
const LIFE_MS = 10 * 60_000;

/** OpenAI's prompt cache, which needs no marks: it finds the longest beginning of an earlier prompt. */
export class PrefixCache {
  #prompts: { readonly text: string; readonly at: number }[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  read(text: string): InputUsage {
    const now = this.#now();
    this.#prompts = this.#prompts.filter(({ at }) => now - at < LIFE_MS).slice(-50);
    const shared = this.#prompts.map((one) => commonLength(one.text, text));
    const tokens = Math.floor(Math.max(0, ...shared) / 3.6);
    const cacheRead = tokens < SMALLEST ? 0 : tokens - (tokens % STEP);
    this.#prompts.push({ text, at: now });
    return { input: tokensIn(text) - cacheRead, cacheRead, cacheWrite5m: 0, cacheWrite1h: 0 };
  }
}

function commonLength(a: string, b: string): number {
  let [low, high] = [0, Math.min(a.length, b.length)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (a.startsWith(b.slice(0, middle))) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}
