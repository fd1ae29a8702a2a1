import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, expect, it } from "vitest";

import { openPostgresStore } from "../../../src/store/engines/postgres/open.ts";
import { readDetail } from "../../../src/store/records/messages/read.ts";
import type { Store } from "../../../src/store/store.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { createPostgres } from "../../helpers/postgres.ts";
import { startCuttingProxy } from "../../helpers/postgres/cutting-proxy.ts";
import { randomOf, seedOf } from "../../helpers/random.ts";
import { call, startScriptedProvider, text } from "../../helpers/scripted-provider.ts";
import { homeOfNodes, startNode } from "../../helpers/service-node.ts";
import { testSize } from "../../helpers/size.ts";

const EXCHANGES = 10;
const ANSWER = "the answer";

const seed = seedOf("outages");
/** Each step of half a second up to 8; about as long as a write is tried again comes first. */
const lengths = Array.from({ length: 16 }, (_, index) => 500 * (((index + 7) % 16) + 1));
const total = { outages: 0, exchanges: 0, failed: 0, answered: 0, attempts: 0 };
afterAll(() => console.log("outages:", JSON.stringify(total)));

it.each(lengths.slice(0, testSize("outages")))(
  "[QUEUE-19] [QUEUE-45] each exchange is answered once, though the database is away for %i ms while it runs",
  async (awayMs) => {
    const random = randomOf(seed + awayMs);
    // some end before the database is back, some after it
    const takeTime = () => ({ kind: "wait", until: sleep(random() * awayMs * 1.2) }) as const;
    await using provider = await startScriptedProvider("openai", (_, body) =>
      body.includes('"role":"tool"')
        ? [text("the "), takeTime(), text("answer")]
        : [takeTime(), call("none_such", {})],
    );
    await using database = await createPostgres();
    const proxy = await startCuttingProxy(database.url);
    const home = homeOfNodes({ ...provider.env, REPRISE_DATABASE: proxy.url });
    const node = await startNode(home, ["--jobs", `${EXCHANGES}`]);
    const ids = await Promise.all(
      Array.from({ length: EXCHANGES }, async () => (await node.client.createSession({})).id),
    );
    await Promise.all(ids.map((id) => node.post(id, "a question")));
    while (provider.requests.length < EXCHANGES) {
      await sleep(5);
    }

    proxy.refuseAll();
    await sleep(awayMs);
    proxy.open();

    await using store = await openPostgresStore({ url: database.url });
    const records = await whenEnded(store);
    const failed = records.filter(({ state }) => state !== "done");
    const answers = await Promise.all(ids.map((id) => answersOf(store, id)));
    total.outages += 1;
    total.exchanges += records.length;
    total.failed += failed.length;
    total.answered += answers.filter((of) => of.length === 1).length;
    total.attempts += records.reduce((sum, { attempts }) => sum + attempts, 0);
    expect(failed).toEqual([]);
    expect(answers).toEqual(ids.map(() => [ANSWER]));
    for (const id of ids) {
      expect((await verifySession(store, id)).findings).toEqual([]);
    }
    await node.service.stop();
  },
);

async function whenEnded(store: Store) {
  const columns = ["state", "attempts", "error_code", "ended_at"] as const;
  for (;;) {
    const records = await store.read(
      ({ db }) => db.selectFrom("exchanges").select(columns).execute(),
      null,
    );
    if (records.every(({ ended_at }) => ended_at !== null)) {
      return records;
    }
    await sleep(50);
  }
}

/** What was answered to the one question of a session, other than calls. */
async function answersOf(store: Store, id: string): Promise<readonly string[]> {
  const { messages } = await store.read(readDetail, { reference: id, all: true });
  expect(messages.filter(({ role }) => role === "user")).toHaveLength(1);
  return messages
    .filter(({ role, content }) => role === "assistant" && content !== "")
    .map(({ content }) => content);
}
