import { sql } from "kysely";
import { Client } from "pg";
import { expect, it, onTestFinished } from "vitest";

import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { openPostgresStore } from "../../../src/store/engines/postgres/open.ts";
import { sessionOfHint } from "../../../src/store/hints.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import type { Store } from "../../../src/store/store.ts";
import { createPostgres } from "../../helpers/postgres.ts";
import { freshHome } from "../../helpers/reprise.ts";
import {
  type SessionStateProxy,
  startSessionStateProxy,
} from "../../helpers/postgres/statement-proxy.ts";

it("[PG-14] no statement of the program outlives its transaction, except LISTEN", async () => {
  await using proxy = await behindProxy();
  await using copied = await behindProxy();
  const home = freshHome({ REPRISE_DATABASE: proxy.url, REPRISE_MODEL: "demo" });

  await useHints(proxy.url);
  await useService(home);
  for (const args of [
    ["-p", "hello"],
    ["doctor"],
    ["copy", "--from", proxy.url, "--to", copied.url],
  ]) {
    const { code, stderr } = await home.call(args);
    expect({ args: args[0], code, stderr }).toMatchObject({ code: 0 });
  }

  for (const { statements, leftovers } of [proxy, copied]) {
    const unexpected = leftovers.filter(({ left }) => left !== "channel reprise");
    expect(unexpected).toEqual([]);
    expect(statements.filter(isSessionWide)).toEqual([]);
    // the parts that a run must have passed through
    expect(statements).toContainEqual(expect.stringContaining("pg_advisory_xact_lock"));
    expect(statements).toContainEqual(expect.stringMatching(/^begin.*pg_current_xact_id/is));
  }
  for (const words of ["pg_notify", "LISTEN reprise", "checkpoints", "READ ONLY"]) {
    expect(proxy.statements).toContainEqual(expect.stringContaining(words));
  }
});

it("[PG-14] the proxy of these tests sees each way to leave something on a connection", async () => {
  await using proxy = await behindProxy();
  const client = new Client({ connectionString: proxy.url });
  await client.connect();
  for (const statement of [
    "SET synchronous_commit = off",
    "SELECT set_config('lock_timeout', '1s', false)",
    "LISTEN elsewhere",
    "SELECT pg_advisory_lock(7)",
    "PREPARE one AS SELECT 1",
    "CREATE TEMP TABLE here (a int)",
  ]) {
    await client.query(statement);
  }
  await client.end();

  expect(proxy.leftovers.map(({ statements }) => statements.length)).toEqual([1, 1, 1, 1, 1, 1]);
  expect(proxy.leftovers.at(-1)?.left.split(", ").toSorted()).toEqual([
    "channel elsewhere",
    "lock 7",
    "prepared statement one",
    "setting lock_timeout",
    "setting synchronous_commit",
    "table here",
  ]);
});

it("[PG-15] each transaction that writes asks for synchronous_commit in its first statement", async () => {
  await using proxy = await behindProxy();
  await using store = await openPostgresStore({ url: `${proxy.url}?hints=off` });
  const begins = (): string[] =>
    proxy.statements.filter((statement) => /^begin .*read committed/i.test(statement));
  const migrating = begins();
  expect(migrating.length).toBeGreaterThan(0);

  const { id } = await store.write(createSession, {});
  await store.write(appendUserMessage, { reference: id, content: "hello" });

  expect(begins()).toHaveLength(migrating.length + 2);
  for (const statement of begins()) {
    expect(statement).toContain("current_setting('synchronous_commit')");
  }
});

it("[PG-15] a connection that was set to lose commits stores nothing, whenever that happened", async () => {
  await using database = await createPostgres();
  await using store = await openPostgresStore({ url: `${database.url}?pool_size=2` });
  const spoil: Parameters<Store["write"]>[0] = async (tx) => {
    await sql`SET synchronous_commit = off`.execute(tx.db);
  };
  await store.write(spoil, null);

  await expect(store.write(createSession, {})).rejects.toMatchObject({
    code: "config_invalid",
    message: expect.stringContaining("synchronous_commit is weaker than on"),
  });
});

async function behindProxy(): Promise<SessionStateProxy> {
  const database = await createPostgres({ tables: false });
  onTestFinished(() => database[Symbol.asyncDispose]());
  return startSessionStateProxy(database.url);
}

/** Two nodes, one of which hears of what the other one stored. */
async function useHints(url: string): Promise<void> {
  await using listening = await openPostgresStore({ url });
  await using writing = await openPostgresStore({ url });
  const heard = Promise.withResolvers<void>();
  const { id } = await writing.write(createSession, {});
  listening.onCommit((hints) => {
    if ([...hints].map(sessionOfHint).includes(id)) {
      heard.resolve();
    }
  });
  // a hint that is sent before the other node listens is lost
  const writes = { stopped: false };
  const repeat = async (): Promise<void> => {
    while (!writes.stopped) {
      await writing.write(appendUserMessage, { reference: id, content: "again" });
    }
  };
  const repeating = repeat();
  await heard.promise;
  writes.stopped = true;
  await repeating;
}

async function useService(home: ReturnType<typeof freshHome>): Promise<void> {
  const service = home.start(["serve", "--port", "0"]);
  const [, url = ""] = await service.waitFor(/^listening on (\S+)$/m);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const created = await fetch(`${url}/api/sessions`, { method: "POST" });
  const { id } = (await created.json()) as { id: string };
  const stream = await fetch(`${url}/api/sessions/${id}/stream`);
  await fetch(`${url}/api/sessions/${id}/end`, { method: "POST" });
  await stream.text();
  expect(await service.stop("SIGTERM")).toMatchObject({ code: 0 });
}

/** By its words; the proxy sees by its effect what no list of words names. */
function isSessionWide(statement: string): boolean {
  return /\b(set\s+(?!local\b)(session\b|[a-z_]+\s*(=|to\b))|reset|discard|prepare|declare|load|pg_advisory_lock|temp(orary)?\s+table)\b/i.test(
    statement.replaceAll(/update\s+.*?\bset\b/gis, ""),
  );
}
