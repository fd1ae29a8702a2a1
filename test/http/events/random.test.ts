import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { type Client, createClient } from "../../../src/client/client.ts";
import { ClientError } from "../../../src/client/client-error.ts";
import type { ExchangeInfo, SessionSummary } from "../../../src/core/schemas/schemas.ts";
import type { SessionEvent } from "../../../src/core/schemas/session-events.ts";
import { createDatabase } from "../../helpers/database.ts";
import { openEvents } from "../../helpers/session-events.ts";
import { seededRandom } from "../../helpers/random.ts";
import { testSize } from "../../helpers/size.ts";
import { temporaryFolder } from "../../helpers/temp.ts";
import { type Service, startService } from "../../torture/service.ts";

const OPERATIONS = testSize("events");
const READERS = 3;
/** Metadata of a session, as its event may come before the answer with its id. */
const LAST = "last";
const token = "0123456789abcdef0123456789abcdef";

/** Two real services on one database, of which one is sometimes killed and started again. */
async function startNodes(location: string) {
  const tokenFile = join(temporaryFolder(), "token");
  writeFileSync(tokenFile, token);
  const args = ["--token-file", tokenFile, "--repos", "none"];
  const start = (): Promise<Service> => startService({ database: location, args });
  const nodes = await Promise.all([start(), start()]);
  return {
    url: (index: number): string => nodes[index % nodes.length]!.url,
    client: (index: number): Client =>
      createClient({ baseUrl: nodes[index % nodes.length]!.url, token }),
    kill: async (index: number): Promise<void> => {
      const place = index % nodes.length;
      await nodes[place]!.stop("SIGKILL");
      nodes[place] = await start();
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

type Nodes = Awaited<ReturnType<typeof startNodes>>;

async function listAll(client: Client): Promise<SessionSummary[]> {
  const sessions: SessionSummary[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await client.listSessions({
      order: "created",
      limit: 200,
      ...(cursor === undefined ? {} : { cursor }),
    });
    sessions.push(...page.sessions);
    cursor = page.next;
  }
  return sessions;
}

/** A list view: it reads the list after `reset`, and after that only events. */
function createView() {
  const sessions = new Map<string, SessionSummary>();
  const exchanges = new Map<string, ExchangeInfo>();
  let resets = 0;
  return {
    sessions,
    exchanges,
    resets: () => resets,
    take: async (event: SessionEvent, client: Client): Promise<void> => {
      switch (event.event) {
        case "reset":
          resets += 1;
          sessions.clear();
          for (const session of await listAll(client)) {
            sessions.set(session.id, session);
          }
          return;
        case "created":
        case "changed":
          sessions.set(event.data.id, event.data);
          return;
        case "deleted":
          sessions.delete(event.data.id);
          return;
        case "exchange":
          exchanges.set(`${event.data.session_id} ${event.data.n}`, event.data);
          return;
        case "question":
        case "phase":
      }
    },
  };
}

type View = ReturnType<typeof createView>;

/** Follows until `view` has the last session; goes to another node after some events, and when it is cut. */
async function follow(view: View, nodes: Nodes, random: () => number): Promise<View> {
  let lastId: string | undefined;
  for (let index = Math.floor(random() * 2); ; index += 1) {
    let left = 1 + Math.floor(random() * 12);
    const events = await openEvents(nodes.url(index), {
      token,
      ...(lastId === undefined ? {} : { lastId }),
    }).catch(() => null);
    for (let taken = 0; events !== null && left > 0; left -= 1) {
      const all = await events.until(() => events.events().length > taken).catch(() => []);
      const event = all[taken];
      if (event === undefined) {
        break;
      }
      taken += 1;
      await untilThere(() => view.take(event, nodes.client(index)));
      lastId = event.id;
      if ([...view.sessions.values()].some(({ metadata }) => LAST in metadata)) {
        events.cut();
        return view;
      }
    }
    events?.cut();
  }
}

/** Again and again while a node is started again. */
async function untilThere<Output>(work: () => Promise<Output>): Promise<Output> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ClientError) || error.code !== "unreachable") {
        throw error;
      }
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}

it("[EVENTS-10] lists made of events equal the list, whatever nodes were read, left and killed", async () => {
  const random = seededRandom("events of all sessions");
  await using database = await createDatabase();
  await using nodes = await startNodes(database.location);
  const views = Array.from({ length: READERS }, createView);
  const followed = Promise.all(views.map((view) => follow(view, nodes, random)));
  // a reader gets no event for what came before its first list
  await expect.poll(() => views.map(({ resets }) => resets())).toEqual(views.map(() => 1));
  const ids: string[] = [];
  const pickId = (): string | undefined => ids[Math.floor(random() * ids.length)];
  const operations: readonly ((client: Client, id: string) => Promise<unknown>)[] = [
    (client, id) => client.postMessage(id, `message ${random()}`),
    (client, id) => client.postMessage(id, `message ${random()}`),
    (client, id) => client.patchSession(id, { name: `name ${random()}` }),
    (client, id) => client.patchSession(id, { archived: random() < 0.5 }),
    (client, id) => client.patchSession(id, { metadata: { key: random() < 0.5 ? null : "v" } }),
    (client, id) => client.queueExchange(id, "Hello"),
    (client, id) => client.endSession(id),
    (client, id) => client.deleteSession(id),
  ];
  for (let done = 0; done < OPERATIONS; done += 1) {
    const node = Math.floor(random() * 2);
    const id = random() < 0.3 ? undefined : pickId();
    const operation = operations[Math.floor(random() * operations.length)]!;
    const change = async (): Promise<void> => {
      if (id === undefined) {
        ids.push((await nodes.client(node).createSession({})).id);
      } else {
        await operation(nodes.client(node), id);
      }
    };
    await change().catch((error: unknown) => {
      // ended, deleted, busy: refused, or its answer was lost with the node
      expect(error).toBeInstanceOf(ClientError);
    });
    if (done % 20 === 10) {
      await nodes.kill(node);
    }
  }
  const client = nodes.client(0);
  const isQuiet = async (): Promise<boolean> => {
    for (const { id } of await listAll(client)) {
      const exchanges = await client.listExchanges(id);
      if (exchanges.some(({ ended_at }) => ended_at === null)) {
        return false;
      }
    }
    return true;
  };
  while (!(await isQuiet())) {
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
  await client.createSession({ metadata: { [LAST]: "yes" } });
  const wanted = await listAll(client);
  for (const { sessions, exchanges, resets } of await followed) {
    expect([...sessions.values()].sort(byId)).toEqual(wanted.toSorted(byId));
    expect(resets()).toBe(1);
    for (const { id } of wanted) {
      for (const listed of await client.listExchanges(id)) {
        // what its requests cost is read with the list alone
        const { usage: _usage, cost_micros: _cost, ...exchange } = listed;
        expect(exchanges.get(`${id} ${exchange.n}`)).toEqual(exchange);
      }
    }
  }
});

function byId(one: SessionSummary, other: SessionSummary): number {
  return one.id < other.id ? -1 : 1;
}
