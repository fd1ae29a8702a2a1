import { load, type LoadResult } from "./load.ts";
import { median } from "./measurement.ts";

/** Somebody whose figure is wanted: a server and what it is asked. */
export interface Contender {
  readonly port: number;
  readonly next: () => Buffer | string;
}

export interface RoundsOptions {
  readonly connections: number;
  readonly scale: number;
  /** Rounds of each contender; of each figure the median is taken. */
  readonly rounds?: number;
}

/** Seconds of a round, and of the one before the first that warms up. */
const ROUND_SECONDS = 1.5;
const ROUNDS = 5;

/**
 * Loads each contender for a round, then each again, and so on: what the machine does beside falls
 * on all of them. Gives the results of each contender, one for each round.
 */
export async function inRounds<Name extends string>(
  contenders: Readonly<Record<Name, Contender>>,
  { connections, scale, rounds: most = ROUNDS }: RoundsOptions,
): Promise<Record<Name, LoadResult[]>> {
  const names = Object.keys(contenders) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<
    Name,
    LoadResult[]
  >;
  const seconds = ROUND_SECONDS * scale;
  const rounds = Math.max(1, Math.round(most * scale));
  for (let round = -1; round < rounds; round += 1) {
    // who comes first changes, because the one before leaves the machine as it does
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const result = await load({ ...contenders[name], connections, seconds });
      if (round >= 0) {
        results[name].push(result);
      }
    }
  }
  if (process.env["REPRISE_BENCH_CLIENT"] !== undefined) {
    showClient(results);
  }
  return results;
}

/** The median of the rounds' requests a second. */
export function perSecond(results: readonly LoadResult[]): number {
  return median(results.map((result) => result.perSecond));
}

/** What the client itself costs: it must be far from a whole core for the figures to be a server's. */
function showClient(results: Readonly<Record<string, readonly LoadResult[]>>): void {
  for (const [name, rounds] of Object.entries(results)) {
    const micros = median(rounds.map(({ clientMicroseconds }) => clientMicroseconds));
    const busy = (micros * perSecond(rounds)) / 10_000;
    console.error(
      `${name}: the client took ${micros.toFixed(1)} us a request, ${busy.toFixed(0)} % of a core`,
    );
  }
}
