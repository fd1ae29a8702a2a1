import { postRequest } from "./load.ts";
import type { Bench } from "./measurement.ts";
import { besideBare } from "./beside-bare.ts";
import { type Contender, perSecond } from "./rounds.ts";
import type { Service } from "./services.ts";

const CONNECTIONS = 32;

/** Sessions created over HTTP, each on the disk before its answer. */
export const bench: Bench = {
  about: "sessions created a second over HTTP, held against the bare server",
  run: async ({ scale }) => {
    const results = await besideBare(creating, { connections: CONNECTIONS, scale });
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
