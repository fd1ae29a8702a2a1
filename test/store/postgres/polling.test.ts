import { setTimeout as sleep } from "node:timers/promises";

import { expect, it, onTestFinished } from "vitest";

import { openPostgresStore } from "../../../src/store/engines/postgres/open.ts";
import { createPostgres } from "../../helpers/postgres.ts";
import { startTestServer } from "../../helpers/server.ts";
import { openStream } from "../../helpers/stream.ts";
import { startStatementProxy } from "../../helpers/postgres/statement-proxy.ts";

const POLLS = 10;

const CASES = [
  { streams: 1, sessions: 1 },
  { streams: 10, sessions: 10 },
  { streams: 200, sessions: 200 },
  { streams: 200, sessions: 1 },
];

it("[PG-13] 1, 10 and 200 streams cost three statements per poll; one poll names all sessions", async () => {
  const database = await createPostgres();
  onTestFinished(() => database[Symbol.asyncDispose]());
  await using proxy = await startStatementProxy(database.url);
  await using store = await openPostgresStore({ url: `${proxy.url}?hints=off` });
  await using node = await startTestServer({ store, stream: { pollMs: 20 } });
  for (const { streams, sessions } of CASES) {
    const ids = await Promise.all(Array.from({ length: sessions }, () => node.newSession()));
    const open = await Promise.all(
      Array.from({ length: streams }, (_, index) =>
        openStream(node.url, `/api/sessions/${ids[index % sessions]}/stream`),
      ),
    );
    // the first poll sees each session for the first time and wakes its streams once
    const polled = await nothingButPolls(proxy.statements);

    for (const select of polled.filter((_, index) => index % 3 === 1)) {
      expect(select.match(/\$\d+/g)).toHaveLength(sessions);
    }
    for (const stream of open) {
      stream.cut();
    }
    while (node.server.app.streams.open > 0) {
      await sleep(5);
    }
    proxy.clear();
  }
});

/** The statements of `POLLS` polls one after another, once there are such and nothing in between. */
async function nothingButPolls(statements: readonly string[]): Promise<readonly string[]> {
  const count = POLLS * POLL.length;
  for (let from = 0; ; from += 1) {
    while (statements.length < from + count) {
      await sleep(5);
    }
    const window = statements.slice(from, from + count);
    if (window.every((text, index) => POLL[index % POLL.length]?.test(text))) {
      return window;
    }
  }
}

const POLL = [
  /^BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY$/,
  /^select "id", "last_seq", "state" from "sessions" where "id" in \(/,
  /^COMMIT$/,
];
