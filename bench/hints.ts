import { appending, CONNECTIONS } from "./append.ts";
import type { Bench } from "./measurement.ts";
import { startPostgres } from "./postgres.ts";
import { inRounds, perSecond } from "./rounds.ts";
import { startReprise } from "./services.ts";

/** More than of other benches: PostgreSQL's checkpoints fall on some rounds and not on others. */
const ROUNDS = 15;

/** What it costs a node to notify another one of an append at once. */
export const bench: Bench = {
  about: "appends a second over HTTP to PostgreSQL with hints, held against the same without",
  run: async ({ scale }) => {
    await using postgres = await startPostgres();
    const told = await postgres.makeDatabase("told");
    const untold = `${await postgres.makeDatabase("untold")}?hints=off`;
    await using on = await startReprise(told);
    await using off = await startReprise(untold);
    // somebody who hears the hints, and the same process without them
    await using _hears = await startReprise(told);
    await using _looks = await startReprise(untold);
    const results = await inRounds(
      { on: await appending(on), off: await appending(off) },
      { connections: CONNECTIONS, scale, rounds: ROUNDS },
    );
    return [
      {
        what: `a second node listens, ${CONNECTIONS} connections`,
        unit: "appends/s",
        ours: perSecond(results.on),
        floor: perSecond(results.off),
        reach: { at_least: 0.9 },
      },
    ];
  },
};
