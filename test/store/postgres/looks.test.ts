import { setTimeout as sleep } from "node:timers/promises";

import { expect, it, onTestFinished } from "vitest";

import { openPostgresStore } from "../../../src/store/postgres/open.ts";
import { createPostgres } from "../../helpers/postgres.ts";
import { startTestServer } from "../../helpers/server.ts";
import { openStream } from "../../helpers/stream.ts";
import { startListeningProxy } from "./listening-proxy.ts";

const LOOKS = 10;

const CASES = [
  { streams: 1, sessions: 1 },
  { streams: 10, sessions: 10 },
  { streams: 200, sessions: 200 },
  { streams: 200, sessions: 1 },
];

it("[PG-13] 1, 10 and 200 streams cost three statements a look, and one look names all sessions", async () => {
  const database = await createPostgres();
  onTestFinished(() => database[Symbol.asyncDispose]());
  await using proxy = await startListeningProxy(database.url);
  await using store = await openPostgresStore({ url: `${proxy.url}?hints=off` });
  await using node = await startTestServer({ store, stream: { pollMs: 20 } });
  for (const { streams, sessions } of CASES) {
    const ids = await Promise.all(Array.from({ length: sessions }, () => node.newSession()));
    const open = await Promise.all(
      Array.from({ length: streams }, (_, index) =>
        openStream(node.url, `/api/sessions/${ids[index % sessions]}/stream`),
      ),
    );
    // the first look sees each session for the first time and wakes its streams once
    await quiet(proxy.statements);

    proxy.clear();
    await seen(proxy.statements, LOOKS * 3);

    for (let look = 0; look < LOOKS; look += 1) {
      const [begin, select, commit] = proxy.statements.slice(look * 3);
      expect(begin).toMatch(/^BEGIN/);
      expect(select).toMatch(/^select "id", "last_seq", "state" from "sessions" where "id" in \(/);
      expect(select?.match(/\$\d+/g)).toHaveLength(sessions);
      expect(commit).toBe("COMMIT");
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

async function seen(statements: readonly string[], count: number): Promise<void> {
  while (statements.length < count) {
    await sleep(5);
  }
}

/** Until what passes begins with a look and only looks follow for a while. */
async function quiet(statements: readonly string[]): Promise<void> {
  const isLook = (text: string): boolean => /^(BEGIN|COMMIT|select "id", "last_seq")/.test(text);
  for (let from = -1; from < 0 || !statements.slice(from).every(isLook);) {
    from = statements.length;
    await seen(statements, from + 9);
  }
  while (statements.at(-1) !== "COMMIT") {
    await sleep(1);
  }
}
