import { postRequest } from "./load.ts";
import type { Bench } from "./measurement.ts";
import { type Contender, inRounds, perSecond } from "./rounds.ts";
import {
  makeDatabase,
  type Service,
  startProgram,
  startReprise,
  temporaryFolder,
} from "./services.ts";

const CONNECTIONS = 32;

/** Sessions created over HTTP, each on the disk before its answer. */
export const bench: Bench = {
  about: "sessions created a second over HTTP, held against the bare server",
  run: async ({ scale }) => {
    using folder = temporaryFolder();
    await using ours = await startReprise(await makeDatabase(`${folder.path}/ours.db`));
    await using bare = await startProgram("bare.ts", [
      await makeDatabase(`${folder.path}/bare.db`),
    ]);
    const results = await inRounds(
      { ours: creating(ours), bare: creating(bare) },
      { connections: CONNECTIONS, scale },
    );
    return [
      {
        what: `sessions created, ${CONNECTIONS} connections`,
        unit: "a second",
        ours: perSecond(results.ours),
        floor: perSecond(results.bare),
        reach: { at_least: 0.6 },
      },
    ];
  },
};

function creating({ port }: Service): Contender {
  const request = postRequest(port, "/api/sessions", {});
  return { port, next: () => request };
}
