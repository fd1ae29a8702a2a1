import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { freePort } from "../helpers/free-port.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { createPostgres } from "../helpers/postgres.ts";
import { severalHosts } from "../helpers/postgres/several-hosts.ts";
import { freshHome } from "../helpers/reprise.ts";

const ID = "4f6f6a52-94a5-4d08-a9d3-5d6c0a3d8f10";

/** An address with a host at which no server runs, and one with the database. */
async function openBench(env: Readonly<Record<string, string>> = {}) {
  const database = await createPostgres();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const nobody = new URL(database.url);
  nobody.port = `${await freePort()}`;
  const home = freshHome(env);
  const outputs: string[] = [];
  const address = severalHosts([nobody.href, database.url]);
  const { host } = new URL(database.url);
  return {
    home,
    address,
    hosts: `${nobody.host},${host}`,
    database,
    call: async (...args: readonly string[]) => {
      const finished = await home.call(args);
      outputs.push(finished.stdout, finished.stderr);
      return finished;
    },
    expectNoPassword: (): void => {
      const written = new URL(database.url).password;
      const output = outputs.join("\n");
      expect(output).not.toContain(written);
      expect(output).not.toContain(decodeURIComponent(written));
    },
  };
}

it("[PG-34] [PG-8] every command takes an address with several hosts, and shows no password of it", async () => {
  const { home, address, hosts, database, call, expectNoPassword } = await openBench();
  const at = ["--database", address] as const;

  const begun = await call(...at, "--session", ID, "-p", "first");
  expect(begun).toMatchObject({ code: 0 });
  expect(begun.stderr).toContain(
    `Resume with: reprise --session ${ID} --database postgres://tester@${hosts}/${database.name}\n`,
  );
  expect(await call("upgrade", "--dry-run", ...at)).toMatchObject({ code: 0 });
  expect(await call("doctor", ...at)).toMatchObject({ code: 0 });
  expect(await call("sessions", "verify", ...at)).toMatchObject({ code: 0 });
  expect(await call("send", ID, "second", ...at)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`postgres://tester@${hosts}/${database.name}`),
  });

  const file = join(home.project, "copy.db");
  expect(await call("copy", "--from", address, "--to", file)).toMatchObject({ code: 0 });
  expect(await call("sessions", "show", ID, "--database", file)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("first"),
  });
  expect(await call("sessions", "delete", ID, "--yes", ...at)).toMatchObject({ code: 0 });
  expect(await call("copy", "--from", file, "--to", address)).toMatchObject({ code: 0 });
  writeFileSync(join(home.project, "address"), `${address}\n`);
  for (const env of [{ REPRISE_DATABASE: address }, { REPRISE_DATABASE_FILE: "address" }]) {
    const { code, stdout } = await home.call(["sessions", "show", ID], { env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("first") });
  }
  expectNoPassword();
});

it("[PG-8] [PG-24] no command shows an address that cannot be read", async () => {
  const home = freshHome();
  for (const address of [
    "postgres://u:hunter2@one:1,two:port/db",
    "postgres://u:12#hunter2@one,two/db",
    "postgres://u:hunter2@one,two/db?target_session_attrs=hunter2",
  ]) {
    for (const args of [
      ["-p", "first"],
      ["doctor"],
      ["sessions", "list"],
      ["upgrade"],
      ["serve"],
    ]) {
      const { code, stdout, stderr } = await home.call([...args, "--database", address]);
      expect([1, 2]).toContain(code);
      expect(stdout + stderr).toMatch(/the database URL/i);
      expect(stdout + stderr).not.toContain("hunter2");
    }
  }
});

it("[PG-34] [PERMISSION-35] [PERMISSION-70] the password and the key file of such an address are out of the agent's reach", async () => {
  const calls = ["settings.txt", "key.pem"];
  const server = await startModelServer({
    answer: (messages) => {
      const results = messages.filter(({ role }) => role === "tool");
      const path = calls[results.length];
      return path === undefined
        ? { content: results.map(({ content }) => content).join("\n") }
        : { toolCalls: [{ name: "read_file", arguments: JSON.stringify({ path }) }] };
    },
  });
  const bench = await openBench({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  const { home, address, database, call, expectNoPassword } = bench;
  const password = decodeURIComponent(new URL(database.url).password);
  writeFileSync(join(home.project, "settings.txt"), `password=${password}\n`);
  writeFileSync(join(home.project, "key.pem"), "a private key\n");
  const key = `sslmode=disable&sslkey=${encodeURIComponent(join(home.project, "key.pem"))}`;

  const { stdout } = await call("-p", "pry", "--no-questions", "--database", `${address}?${key}`);

  expect(stdout).toContain("password=[DATABASE_PASSWORD]");
  expect(stdout).not.toContain("a private key");
  expectNoPassword();
});
