import { relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const HELPERS = fileURLToPath(new URL(".", import.meta.url));

/**
 * A small seeded generator (mulberry32), so that a failing run can be repeated: the seed is
 * printed, and REPRISE_TEST_SEED sets it.
 */
export function seededRandom(name: string): () => number {
  return randomOf(seedOf(name));
}

/** The seed of such a generator, for tests that count on from it. */
export function seedOf(name: string): number {
  const seed = Number(process.env["REPRISE_TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 32));
  console.log(`${name}: seed ${seed}${usedIn()}`);
  return seed;
}

/** A seed that a test printed. */
export interface PrintedSeed {
  readonly name: string;
  readonly seed: string;
  /** The test file that asked for it, below the checkout, if the stack has it. */
  readonly file?: string;
}

/** The seeds in what tests printed. */
export function seedsIn(printed: string): PrintedSeed[] {
  return [...printed.matchAll(/^(.+): seed (-?\d+)(?: in (.+))?$/gm)].map(
    ([, name = "", seed = "", file]) => ({ name, seed, ...(file === undefined ? {} : { file }) }),
  );
}

/** ` in FILE`, by the stack: reporters of Vitest do not learn which file prints while it is loaded. */
function usedIn(): string {
  const files = (new Error("for its stack").stack ?? "")
    .split("\n")
    .map((line) => /(file:\/\/.+?):\d+:\d+\)?$/.exec(line)?.[1])
    .filter((url) => url !== undefined)
    .map((url) => fileURLToPath(url));
  const file = files.find((path) => path.startsWith(ROOT) && !path.startsWith(HELPERS));
  return file === undefined ? "" : ` in ${relative(ROOT, file)}`;
}

/** The same numbers for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Some of a list, in its order: each is as likely as the others. */
export function sampleOf<T>(all: readonly T[], size: number, random: () => number): T[] {
  let wanted = Math.min(size, all.length);
  return all.filter((_, at) => {
    const isTaken = random() * (all.length - at) < wanted;
    wanted -= isTaken ? 1 : 0;
    return isTaken;
  });
}
