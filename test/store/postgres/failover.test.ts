import { setTimeout as sleep } from "node:timers/promises";

import { Client } from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";

import { openPostgresStore } from "../../../src/store/engines/postgres/open.ts";
import {
  admin,
  databaseUrl,
  type EmbeddedServer,
  startEmbedded,
} from "../../helpers/postgres-server.ts";
import {
  type StandbyPair,
  startStandbyPair,
  type WaitEnd,
} from "../../helpers/postgres/standby-pair.ts";
import { severalHosts } from "../../helpers/postgres/several-hosts.ts";
import { randomOf, seedOf } from "../../helpers/random.ts";
import { homeOfNodes, startNode } from "../../helpers/service-node.ts";
import { testSize } from "../../helpers/size.ts";

const DATABASE = "failover";
const TOKEN = "a-token";
const WRITERS = 8;
const ENDS = ["pg_terminate_backend", "pg_cancel_backend"] as const satisfies readonly WaitEnd[];

let source: EmbeddedServer;
beforeAll(async () => {
  source = await startEmbedded();
  await admin(source.url, `CREATE DATABASE ${DATABASE} ENCODING 'UTF8' TEMPLATE template0`);
  const store = await openPostgresStore({ url: databaseUrl(source.url, DATABASE) });
  await store.close();
  // its folder is copied, and nothing may change meanwhile
  await source.crash();
});
afterAll(() => source.stop());

const seed = seedOf("failover");
const rounds = Array.from({ length: testSize("failover") }, (_, index) => seed + index);
const total = { rounds: 0, acknowledged: 0, refused: 0, ended: 0, lost: 0 };
afterAll(() => console.log("failover:", JSON.stringify(total)));

it.each(rounds)(
  "[PG-32] [PG-33] a standby has each acknowledged message, whatever waits were ended before it was needed (seed %i)",
  async (roundSeed) => {
    const random = randomOf(roundSeed);
    const pair = await startStandbyPair(source, DATABASE);
    const home = homeOfNodes({ REPRISE_DATABASE: pair.url });
    const nodes = await Promise.all([startNode(home, []), startNode(home, [])]);
    const load = startLoad(await Promise.all(nodes.map((node) => sessionsOf(node, random))));
    await load.untilAcknowledged(5 * WRITERS);

    const ended = await endWaits(pair, load, random);
    await pair.kill();
    await load.stop();
    await Promise.all(nodes.map(({ service }) => service.stop()));
    pair.resume();
    const stored = await contentsAt(await pair.promote());

    const lost = load.acknowledged.filter(({ content }) => !stored.has(content));
    total.rounds += 1;
    total.acknowledged += load.acknowledged.length;
    total.refused += load.refusals();
    total.ended += ended;
    total.lost += lost.length;
    expect(lost).toEqual([]);
    expect(
      load.acknowledged.filter(({ key, content }) => key !== null && stored.get(content) !== 1),
    ).toEqual([]);
    expect(load.unexpected).toEqual([]);
  },
);

it.each(rounds)(
  "[PG-35] nodes whose address names both servers continue without a restart, and lose nothing (seed %i)",
  async (roundSeed) => {
    const random = randomOf(roundSeed);
    const pair = await startStandbyPair(source, DATABASE);
    const address = severalHosts([pair.url, pair.standbyUrl]);
    const home = homeOfNodes({ REPRISE_DATABASE: address });
    const nodes = await Promise.all([startNode(home, []), startNode(home, [])]);
    const load = startLoad(await Promise.all(nodes.map((node) => sessionsOf(node, random))));
    await load.untilAcknowledged(5 * WRITERS);

    await pair.kill();
    await sleep(random() * 5000);
    await pair.promote();
    await load.untilAcknowledged(5 * WRITERS);
    await load.stop();

    await untilIdle(pair.standbyUrl);
    const stored = await contentsAt(pair.standbyUrl);
    expect(load.acknowledged.filter(({ content }) => !stored.has(content))).toEqual([]);
    expect(
      load.acknowledged.filter(({ key, content }) => key !== null && stored.get(content) !== 1),
    ).toEqual([]);
    expect(load.unexpected).toEqual([]);
    for (const { service } of nodes) {
      const { code, stdout, stderr } = await service.stop("SIGTERM");
      expect(code).toBe(0);
      expect(stdout).toContain(`@127.0.0.1:${new URL(pair.url).port},127.0.0.1:`);
      expect(stdout + stderr).not.toContain(new URL(pair.url).password);
    }
  },
);

/** Resolves once every exchange has ended. */
async function untilIdle(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  while ((await client.query("SELECT FROM exchanges WHERE ended_at IS NULL")).rowCount !== 0) {
    await sleep(20);
  }
  await client.end();
}

/** Hangs the standby one to three times, and ends waits each time; the last time it stays. */
async function endWaits(pair: StandbyPair, load: Load, random: () => number): Promise<number> {
  let ended = 0;
  for (let left = 1 + Math.floor(random() * 3); left > 0; left--) {
    pair.hang();
    const enough = ended + 4 + Math.floor(random() * 20);
    while (ended < enough) {
      ended += await pair.endWaits(ENDS[Math.floor(random() * ENDS.length)] ?? ENDS[0]);
      await sleep(random() * 30);
    }
    if (left > 1) {
      pair.resume();
      await load.untilAcknowledged(2 * WRITERS);
    }
  }
  return ended;
}

type Node = Awaited<ReturnType<typeof startNode>>;

/** Where messages are posted: to sessions that keep them, and to those that answer them. */
async function sessionsOf({ service, client }: Node, random: () => number): Promise<string[]> {
  const [, url = ""] = /^listening on (\S+)$/m.exec(service.stdout()) ?? [];
  return Promise.all(
    Array.from({ length: WRITERS / 2 }, async () => {
      const { id } = await client.createSession({});
      return `${url}/api/sessions/${id}/${random() < 0.4 ? "exchanges" : "messages"}`;
    }),
  );
}

interface Posted {
  readonly content: string;
  readonly key: string | null;
}

/** Posts one message after the other to each target, each with a key or without, and again after a refusal. */
function startLoad(targets: readonly (readonly string[])[]) {
  const acknowledged: Posted[] = [];
  const unexpected: string[] = [];
  let refusals = 0;
  let isOver = false;
  const write = async (url: string, writer: number): Promise<void> => {
    for (let count = 1; !isOver; count++) {
      const content = `message ${count} of writer ${writer}`;
      const posted = { content, key: count % 2 === 0 ? `${writer}-${count}` : null };
      while (!isOver) {
        const status = await post(url, posted);
        if (status === 201 || status === 202) {
          acknowledged.push(posted);
          break;
        }
        refusals += 1;
        if (status !== 503) {
          unexpected.push(`${status} to ${content}`);
        }
      }
    }
  };
  const writers = targets.flat().map(write);
  return {
    acknowledged,
    unexpected,
    refusals: () => refusals,
    /** Resolves when so many more have been. */
    untilAcknowledged: async (more: number): Promise<void> => {
      const enough = acknowledged.length + more;
      while (acknowledged.length < enough) {
        await sleep(10);
      }
    },
    stop: async (): Promise<void> => {
      isOver = true;
      await Promise.all(writers);
    },
  };
}

type Load = ReturnType<typeof startLoad>;

async function post(url: string, { content, key }: Posted): Promise<number> {
  const answer = await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${TOKEN}`,
      "content-type": "application/json",
      ...(key === null ? {} : { "idempotency-key": key }),
    },
    body: JSON.stringify({ content }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** How often a database has each message, as one that waits or as one that was read. */
async function contentsAt(url: string): Promise<ReadonlyMap<string, number>> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ content: string; times: number }>(
    `SELECT content, count(*)::int AS times FROM (
       SELECT content FROM messages WHERE role = 'user' UNION ALL
       SELECT content FROM exchanges WHERE state = 'queued' AND content IS NOT NULL) AS stored
     GROUP BY content`,
  );
  await client.end();
  return new Map(rows.map(({ content, times }) => [content, times]));
}
