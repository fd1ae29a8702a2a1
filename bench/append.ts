import { ask, postRequest } from "./load.ts";
import type { Bench } from "./measurement.ts";
import { besideBare } from "./beside-bare.ts";
import { type Contender, perSecond } from "./rounds.ts";
import type { Service } from "./services.ts";

export const CONNECTIONS = 64;
const SESSIONS = 100;
const MESSAGE_BYTES = 200;

/** Messages appended over HTTP, each on the disk before its answer. */
export const bench: Bench = {
  about: "durable appends a second over HTTP, held against the bare server",
  run: async ({ scale }) => {
    const results = await besideBare(appending, { connections: CONNECTIONS, scale });
    return [
      {
        what: `${MESSAGE_BYTES} bytes into ${SESSIONS} sessions, ${CONNECTIONS} connections`,
        unit: "appends/s",
        ours: perSecond(results.ours),
        floor: perSecond(results.bare),
        reach: { at_least: 0.7 },
      },
    ];
  },
};

/** Makes the sessions and appends to one after the other. */
export async function appending({ port }: Service): Promise<Contender> {
  const body = { content: "x".repeat(MESSAGE_BYTES) };
  const requests: Buffer[] = [];
  for (let made = 0; made < SESSIONS; made += 1) {
    const { id } = JSON.parse(await ask(port, postRequest(port, "/api/sessions", {})));
    requests.push(Buffer.from(postRequest(port, `/api/sessions/${id}/messages`, body)));
  }
  let turn = 0;
  return { port, next: () => requests[(turn = (turn + 1) % SESSIONS)]! };
}
