import { setTimeout as sleep } from "node:timers/promises";

import { expect, it, onTestFinished } from "vitest";

import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { type Client, createClient } from "../../../src/client/client.ts";
import { ClientError } from "../../../src/client/client-error.ts";
import { readMessagesAfter } from "../../../src/store/records/messages/read.ts";
import { openPostgresStore } from "../../../src/store/engines/postgres/open.ts";
import { type EmbeddedServer, startEmbedded } from "../../helpers/postgres-server.ts";
import type { Running } from "../../helpers/process.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { seededRandom } from "../../helpers/random.ts";
import { testSize } from "../../helpers/size.ts";
import { openStream } from "../../helpers/stream.ts";
import { type Service, startService } from "../../torture/service.ts";

const ROUNDS = testSize("restarts");
const WRITERS_PER_NODE = 4;
/** Longer than an operation tries again, so that clients get an error. */
const LONG_MS = 2500;

it("[PG-12] [PG-29] a server that crashes under load loses nothing, and nodes and streams continue", async () => {
  const random = seededRandom("restarts");
  const server = await startEmbedded();
  onTestFinished(() => server.stop());
  const nodes = await startNodes(server);
  const clients = nodes.map(({ url }) => createClient({ baseUrl: url }));
  const [client] = clients as [Client];
  const sessions = await Promise.all([client.createSession(), client.createSession()]);
  const talk = await client.createSession();
  const streams = await Promise.all(
    [...sessions, talk].flatMap(({ id }) =>
      nodes.map(async ({ url }) => ({
        id,
        stream: await openStream(url, `/api/sessions/${id}/stream`),
      })),
    ),
  );
  const talking = startProgram("store-exchange-loop.ts", [server.url, talk.id]);
  // a start while the server is away gets an error
  await talking.waitFor(/"done"/);
  const load: Load = { stopped: false, acknowledged: new Map(), refused: 0, posted: 0 };
  const writers = clients.flatMap((each, node) =>
    Array.from({ length: WRITERS_PER_NODE }, (_, writer) =>
      write({ load, client: each, id: sessions[writer % 2]!.id, name: `${node}.${writer}` }),
    ),
  );

  // a writer or an exchange that meets another failure than it repeats ends the test at once
  const writing = Promise.all(writers);
  const ended = talking.finished.then(({ stderr }) => {
    throw new Error(`the exchanges ended: ${stderr}`);
  });
  for (const each of [writing, ended]) {
    each.catch(() => undefined);
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = progressOf(load, talking);
    await sleep(200 + random() * 500);
    await server.crash();
    await sleep(round % 4 === 1 ? LONG_MS : random() * 400);
    await server.start();
    await Promise.race([moved(() => progressOf(load, talking), before), writing, ended]);
    console.log(`restarts: crash ${round + 1}: ${JSON.stringify(progressOf(load, talking))}`);
  }

  load.stopped = true;
  await writing;
  talking.child.stdin?.end();
  const talked = await talking.finished;
  expect([talked.code, talked.stderr]).toEqual([0, ""]);
  for (const { id } of [...sessions, talk]) {
    await client.endSession(id);
  }
  await using store = await openPostgresStore({ url: server.url });
  for (const { id } of [...sessions, talk]) {
    const rows = await store.read(readMessagesAfter, {
      session_id: id,
      after_seq: 0,
      all: true,
      limit: 1_000_000,
    });
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1));
    const told = rows.map(({ seq, content }) => `${seq} ${content}`);
    if (id !== talk.id) {
      // every message was repeated until it was acknowledged, so these are all there may be
      expect(told).toEqual([...(load.acknowledged.get(id) ?? [])].toSorted(bySeq));
    }
    for (const { stream } of streams.filter((each) => each.id === id)) {
      expect(await stream.ended).toBe(true);
      expect(stream.messages().map(({ seq, content }) => `${seq} ${content}`)).toEqual(told);
    }
  }
  const done = outcomesOf(talking).filter(({ kind }) => kind === "done");
  const { findings } = await verifySession(store, talk.id);
  expect(findings).toEqual([]);
  const questions = await store.read(
    (tx) =>
      tx.db
        .selectFrom("messages")
        .select("content")
        .where("session_id", "=", talk.id)
        .where("role", "=", "user")
        .execute(),
    null,
  );
  const asked = questions.map(({ content }) => content);
  expect(asked).toEqual([...new Set(asked)]);
  expect(done.filter(({ text }) => !asked.includes(text))).toEqual([]);
  console.log(
    `restarts: ${ROUNDS} crashes, ${load.posted} messages acknowledged, ${load.refused} posts refused and repeated, ${done.length} exchanges done, ${outcomesOf(talking).length - done.length} failed`,
  );
});

interface Load {
  stopped: boolean;
  /** By session: `<seq> <content>` of each message that was answered with 201. */
  readonly acknowledged: Map<string, string[]>;
  posted: number;
  refused: number;
}

/** Posts until it is stopped; what was refused is repeated with its key until it is stored. */
async function write(input: { load: Load; client: Client; id: string; name: string }) {
  const { load, client, id, name } = input;
  const acknowledged = load.acknowledged.get(id) ?? [];
  load.acknowledged.set(id, acknowledged);
  for (let index = 0; !load.stopped; index += 1) {
    const content = `${name}.${index}`;
    const seq = await post(content);
    acknowledged.push(`${seq} ${content}`);
    load.posted += 1;
  }

  async function post(content: string): Promise<number> {
    for (;;) {
      try {
        return (await client.postMessage(id, content, { idempotencyKey: content })).seq ?? 0;
      } catch (error) {
        if (!(error instanceof ClientError) || error.status !== 503) {
          throw error;
        }
        load.refused += 1;
        await sleep(50);
      }
    }
  }
}

async function startNodes({ url }: EmbeddedServer): Promise<Service[]> {
  const nodes = await Promise.all([
    startService({ database: url, args: ["--stream-poll-ms", "200"] }),
    startService({ database: `${url}?hints=off`, args: ["--stream-poll-ms", "200"] }),
  ]);
  onTestFinished(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  });
  return nodes;
}

interface Progress {
  readonly posted: number;
  readonly done: number;
}

function progressOf({ posted }: Load, talking: Running): Progress {
  return { posted, done: outcomesOf(talking).filter(({ kind }) => kind === "done").length };
}

/** Until messages and exchanges of after the crash are stored. */
async function moved(now: () => Progress, before: Progress): Promise<void> {
  const enough = { posted: before.posted + 50, done: before.done + 2 };
  while (now().posted < enough.posted || now().done < enough.done) {
    await sleep(20);
  }
}

function outcomesOf(talking: Running): { kind: "done" | "failed"; text: string; code?: string }[] {
  const lines = talking.stdout().split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

function bySeq(one: string, other: string): number {
  return Number.parseInt(one) - Number.parseInt(other);
}
