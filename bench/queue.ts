import { setTimeout as sleep } from "node:timers/promises";

import { type Client, createClient } from "../src/client/client.ts";
import { type Bench, type Measurement, median } from "./measurement.ts";
import { type Service, startProgram, temporaryFolder } from "./services.ts";
import { questionOf } from "./texts.ts";

const SESSIONS = 64;
/** Exchanges of each session in a round. */
const EXCHANGES = 5;
const ROUNDS = 5;
const TOKEN = "bench";

/**
 * Exchanges that are posted to the service and run by its node, until the last is done, beside the same
 * exchanges in a loop that knows no HTTP and no queue. The model costs nothing in both.
 */
export const bench: Bench = {
  about: "exchanges a second through HTTP and the queue, held against the same loop without both",
  run: async ({ scale }) => {
    const lines: Measurement[] = [];
    for (const jobs of [4, SESSIONS]) {
      lines.push(await measure(jobs, scale));
    }
    return lines;
  },
};

async function measure(jobs: number, scale: number): Promise<Measurement> {
  using folder = temporaryFolder();
  const start = (name: string, args: readonly string[]): Promise<Service> => {
    const database = `${folder.path}/${name}.db`;
    const all = ["--database", database, "--jobs", String(jobs), ...args];
    return startProgram("free-exchanges.ts", all);
  };
  const sessions = Math.max(2, Math.round(SESSIONS * scale));
  await using service = await start("service", ["--token", TOKEN]);
  await using loop = await start("loop", ["--sessions", String(sessions)]);
  const baseUrl = `http://127.0.0.1:${service.port}`;
  const client = createClient({ baseUrl, token: TOKEN });
  const ids: string[] = [];
  while (ids.length < sessions) {
    ids.push((await client.createSession()).id);
  }
  const contenders = {
    ours: () => answered(client, { baseUrl, ids }),
    loop: () => fetch(`http://127.0.0.1:${loop.port}/${EXCHANGES}`, { method: "POST" }),
  };
  const took = { ours: [] as number[], loop: [] as number[] };
  const names = ["ours", "loop"] as const;
  for (let round = -1; round < Math.max(1, Math.round(ROUNDS * scale)); round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const begun = performance.now();
      await contenders[name]();
      if (round >= 0) {
        took[name].push((performance.now() - begun) / 1000);
      }
    }
  }
  const perSecond = (seconds: readonly number[]): number =>
    (sessions * EXCHANGES) / median(seconds);
  return {
    what: `${sessions} sessions, ${jobs} at once`,
    unit: "exchanges/s",
    ours: perSecond(took.ours),
    floor: perSecond(took.loop),
    reach: null,
  };
}

/** Posts all messages, then waits until each is answered. */
async function answered(
  client: Client,
  { baseUrl, ids }: { readonly baseUrl: string; readonly ids: readonly string[] },
): Promise<void> {
  const last = new Map<string, number>();
  for (let index = 0; index < EXCHANGES; index += 1) {
    await Promise.all(
      ids.map(async (id) => {
        const response = await fetch(`${baseUrl}/api/sessions/${id}/exchanges`, {
          method: "POST",
          headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
          body: JSON.stringify({ content: questionOf(index) }),
        });
        if (response.status !== 202) {
          throw new Error(`the service answered ${response.status}`);
        }
        const { n } = (await response.json()) as { readonly n: number };
        last.set(id, n);
      }),
    );
  }
  for (const [id, n] of last) {
    let exchange = await client.getExchange(id, n);
    while (exchange.ended_at === null) {
      await sleep(5);
      exchange = await client.getExchange(id, n);
    }
    if (exchange.state !== "done") {
      throw new Error(`an exchange ended as ${exchange.state}`);
    }
  }
}
