import type { Measurement } from "./measurement.ts";
import { type Contender, inRounds, perSecond } from "./rounds.ts";
import { makeSeeded, type Seed, someIds } from "./seed.ts";
import { startProgram, startReprise, temporaryFolder } from "./services.ts";

const CONNECTIONS = 32;
/** Sessions that are asked for, one after the other. */
const ASKED = 100;

export interface ReadingOptions {
  readonly scale: number;
  readonly small: Seed;
  readonly large: Seed;
  readonly what: (seed: Seed) => string;
  /** The requests to repeat; `ids` are some of the sessions. */
  readonly requests: (to: { port: number; ids: readonly string[] }) => readonly string[];
}

/**
 * Asks the service and the bare server for the same, from one small and one large database: four
 * contenders in the same rounds. Both servers read the same file.
 */
export async function measureReading(options: ReadingOptions): Promise<Measurement[]> {
  using folder = temporaryFolder();
  const smallPath = await makeSeeded(`${folder.path}/small.db`, options.small);
  const largePath = await makeSeeded(`${folder.path}/large.db`, options.large);
  await using oursSmall = await startReprise(smallPath);
  await using oursLarge = await startReprise(largePath);
  await using bareSmall = await startProgram("bare.ts", [smallPath]);
  await using bareLarge = await startProgram("bare.ts", [largePath]);
  const contender = ({ port }: { port: number }, path: string): Contender => {
    const requests = options.requests({ port, ids: someIds(path, ASKED) });
    let turn = 0;
    return { port, next: () => requests[(turn = (turn + 1) % requests.length)]! };
  };
  const results = await inRounds(
    {
      oursSmall: contender(oursSmall, smallPath),
      bareSmall: contender(bareSmall, smallPath),
      oursLarge: contender(oursLarge, largePath),
      bareLarge: contender(bareLarge, largePath),
    },
    { connections: CONNECTIONS, scale: options.scale },
  );
  const held = (seed: Seed, ours: number, floor: number): Measurement => ({
    what: `${options.what(seed)}, ${CONNECTIONS} connections`,
    unit: "a second",
    ours,
    floor,
    reach: { at_least: 0.6 },
  });
  const small = perSecond(results.oursSmall);
  const large = perSecond(results.oursLarge);
  return [
    held(options.small, small, perSecond(results.bareSmall)),
    held(options.large, large, perSecond(results.bareLarge)),
    {
      what: `${options.what(options.large)}: time of one, held against the small database`,
      unit: "ms",
      ours: 1000 / large,
      floor: 1000 / small,
      reach: { at_most: 1.2 },
    },
  ];
}
