import { expect, it, onTestFinished } from "vitest";

import { openPostgresStore } from "../../src/store/engines/postgres/open.ts";
import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import { createPostgres } from "../helpers/postgres.ts";
import { databaseUrl } from "../helpers/postgres-server.ts";
import { freshHome } from "../helpers/reprise.ts";
import { expectSound } from "../helpers/sessions/forks.ts";
import { seed } from "../helpers/sessions/seed.ts";
import { sharedState } from "../helpers/sessions/sync.ts";

interface Answer {
  readonly ok: boolean;
  readonly same: number;
  readonly sessions: readonly { readonly here: string; readonly there: string }[];
}

async function openServer() {
  const database = await createPostgres();
  onTestFinished(() => database[Symbol.asyncDispose]());
  return database;
}

it("[CLI-440] [SYNC-1] sessions go from a file to a PostgreSQL server and back, and apart histories get one fork", async () => {
  const { url } = await openServer();
  const home = freshHome();
  const ask = (args: readonly string[], database: string) =>
    home.call([...args, "--database", database]);
  await seed(home, { messages: ["of both"] });
  expect((await home.call(["sync", "--with", url])).stdout).toContain("There: 1 added, ");
  const [session] = await home.json<{ id: string }[]>(["sessions", "list", "--json"]);
  for (const [database, words] of [
    [home.database, "asked here"],
    [url, "asked there"],
  ] as const) {
    const asked = await ask(["--session", session?.id ?? "", "-p", words], database);
    expect(asked).toMatchObject({ code: 0 });
  }
  expect((await ask(["-p", "only there"], url)).code).toBe(0);
  const first = await home.json<Answer>(["sync", "--with", url, "--json"]);
  expect(first).toMatchObject({ ok: true, same: 0 });
  expect(JSON.stringify(first)).not.toContain(new URL(url).password);
  // the other way round
  const again = await ask(["sync", "--with", home.database, "--json"], url);
  expect(JSON.parse(again.stdout)).toMatchObject({ ok: true, same: 3, sessions: [] });

  await using here = await openSqliteStore({ path: home.database });
  await using there = await openPostgresStore({ url });
  const state = await sharedState(here);
  expect(state).toEqual(await sharedState(there));
  expect(state.size).toBe(3);
  const texts = [...state.values()].join();
  for (const words of ["asked here", "asked there", "only there"]) {
    expect(texts).toContain(words);
  }
  for (const store of [here, there]) {
    await expectSound(store, ...state.keys());
  }
});

it("[CLI-442] [CLI-444] a server that does not answer, a wrong password and a missing database are refused with a sentence without the password", async () => {
  const { url } = await openServer();
  const home = freshHome();
  await seed(home, { messages: ["one"] });
  const changed = (change: (address: URL) => void): string => {
    const address = new URL(url);
    address.password = "geheim";
    change(address);
    return address.href;
  };
  const { password } = new URL(url);
  const addresses = [
    changed(() => undefined),
    changed((address) => {
      address.port = "1";
    }),
    changed((address) => {
      address.password = password;
      address.pathname = "/reprise_test_missing";
    }),
  ];
  for (const address of addresses) {
    for (const more of [[], ["--dry-run"]]) {
      const result = await home.call(["sync", "--with", address, ...more]);
      expect(result).toMatchObject({ code: 1, stdout: "" });
      expect(result.stderr).toMatch(/^reprise: --with: .*\[database_unavailable\]\n$/);
      expect(result.stderr).not.toContain("geheim");
      expect(result.stderr).not.toContain(password);
    }
  }
});

it("[CLI-442] two addresses of one database are the same one", async () => {
  const { url, name, server } = await openServer();
  const home = freshHome({ REPRISE_DATABASE: url });
  await home.call(["-p", "one"]);
  const other = new URL(databaseUrl(server.url, name));
  other.searchParams.set("connect_timeout", "5");
  for (const more of [[], ["--dry-run"]]) {
    const result = await home.call(["sync", "--with", other.href, ...more]);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toMatch(/^reprise: --with names the database .*\[invalid_usage\]\n$/);
  }
});
