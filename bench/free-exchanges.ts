import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";

import type { Exchanger } from "../src/exchange/exchanger.ts";
import { startNode } from "../src/exchange/nodes/node.ts";
import { namedFolders } from "../src/exchange/served-folders.ts";
import { startServer } from "../src/http/serve.ts";
import { openSqliteStore } from "../src/store/engines/sqlite/open.ts";
import { createSession } from "../src/store/records/sessions/create.ts";
import type { Store } from "../src/store/store.ts";
import { exchangerOn } from "./session-course.ts";
import { questionOf } from "./texts.ts";

/**
 * The two contenders of `queue`, on a model that costs nothing:
 *
 *     node bench/free-exchanges.ts --database FILE --jobs N --token TOKEN
 *     node bench/free-exchanges.ts --database FILE --jobs N --sessions N
 *
 * The first is the service with the node that runs its queue. The second runs the same exchanges in
 * a loop: each POST begins as many in each session as its path says, and is answered after the last.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      database: { type: "string", default: "" },
      jobs: { type: "string", default: "4" },
      token: { type: "string" },
      sessions: { type: "string", default: "64" },
    },
  });
  const store = await openSqliteStore({ path: values.database });
  const jobs = Number(values.jobs);
  const url =
    values.token === undefined
      ? await startLoop(store, { jobs, sessions: Number(values.sessions) })
      : await startService(store, { jobs, token: values.token });
  console.log(`listening on ${url}`);
}

async function startService(
  store: Store,
  { jobs, token }: { readonly jobs: number; readonly token: string },
): Promise<string> {
  const { url } = await startServer({ store, version: "0", host: "127.0.0.1", port: 0, token });
  await startNode({
    store,
    jobs,
    agent: null,
    folders: namedFolders([]),
    openExchanger: () => Promise.resolve(exchangerOn(store)),
    pollMs: 1000,
    onFailure: (error) => console.error(error),
  });
  return url;
}

async function startLoop(
  store: Store,
  { jobs, sessions }: { readonly jobs: number; readonly sessions: number },
): Promise<string> {
  const exchanger = exchangerOn(store);
  const ids: string[] = [];
  while (ids.length < sessions) {
    ids.push((await store.write(createSession, {})).id);
  }
  const server = createServer((request, response) => {
    const rounds = Number(request.url?.slice(1));
    void runAll(exchanger, { ids, jobs, rounds }).then(() => response.end("{}"));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Takes the sessions in turn, as the dispatcher does. */
async function runAll(
  exchanger: Exchanger,
  work: { readonly ids: readonly string[]; readonly jobs: number; readonly rounds: number },
): Promise<void> {
  const live = { listener: () => undefined, signal: new AbortController().signal };
  const waiting = work.ids.map((session_id) => ({ session_id, left: work.rounds }));
  const runOne = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { session_id, left } = next;
      await exchanger.exchange({ session_id, text: questionOf(left) }, live);
      if (left > 1) {
        waiting.push({ session_id, left: left - 1 });
      }
    }
  };
  await Promise.all(Array.from({ length: work.jobs }, runOne));
}

await main();
