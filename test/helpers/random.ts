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
  console.log(`${name}: seed ${seed}`);
  return seed;
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
