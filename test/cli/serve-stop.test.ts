import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { Client } from "pg";
import { expect, it, vi } from "vitest";

import { createPostgres } from "../helpers/postgres.ts";
import type { Running } from "../helpers/process.ts";
import { freshHome } from "../helpers/reprise.ts";
import { openStream } from "../helpers/stream.ts";

it("[OPS-6] [OPS-7] [HTTP-78] a stopped node on PostgreSQL closes streams and connections and exits with 0", async () => {
  await using database = await createPostgres();
  const service = freshHome().start(["serve", "--port", "0", "--log"], {
    env: { REPRISE_DATABASE: database.url },
  });
  const [, url = ""] = await service.waitFor(/^listening on (\S+)$/m);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const made = await fetch(`${url}/api/sessions`, {
    method: "POST",
    headers: { "x-request-id": "chosen-by-a-client" },
  });
  const { id } = (await made.json()) as { id: string };
  const stream = await openStream(url, `/api/sessions/${id}/stream`);
  await fetch(`${url}/api/sessions/${id}/messages`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"content":"the last one"}',
  });
  await stream.received(1);
  // an answer arrives before its line is in the log
  const logged = () => service.stderr().split('"event":"request"').length - 1;
  await vi.waitFor(() => expect(logged()).toBe(3), { timeout: 240_000, interval: 5 });

  expect(await service.stop("SIGTERM")).toMatchObject({ code: 0, signal: null });

  expect(await stream.ended).toBe(false);
  const lines = linesOf(service);
  const events = lines.map(({ event }) => event);
  expect(events.slice(0, 5)).toEqual(["started", "request", "request", "request", "stopping"]);
  // the line of a stream that was cut may come after the node has stopped
  expect(new Set(events.slice(5))).toEqual(new Set(["request", "stopped"]));
  expect(events).toHaveLength(7);
  expect(lines[0]).toMatchObject({ level: "info", url, database: expect.any(String) });
  expect(lines[4]).toMatchObject({ level: "info", signal: "SIGTERM" });
  expect(lines[events.indexOf("stopped")]).toMatchObject({ level: "info", unfinished: false });
  for (const { time } of lines) {
    expect(new Date(String(time)).toISOString()).toBe(time);
  }
  const ids = lines.flatMap((line) => (line["event"] === "request" ? [line["id"]] : []));
  expect(ids).toContain(made.headers.get("x-request-id"));
  expect(new Set(ids).size).toBe(4);
  expect(service.stderr()).not.toContain("chosen-by-a-client");
  expect(service.stderr()).not.toContain(new URL(database.url).password);
  // the server ends a connection after its client has
  await expect.poll(() => connectionsTo(database.url)).toBe(0);
});

it("[OPS-8] with --drain it is not ready but still serves; a second signal ends it", async () => {
  const home = freshHome();
  const service = home.start(["serve", "--port", "0", "--drain", "300"]);
  const [, url = ""] = await service.waitFor(/^listening on (\S+)$/m);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  service.child.kill("SIGTERM");
  let answer = await fetch(`${url}/readyz`);
  while (answer.status === 200) {
    answer = await fetch(`${url}/readyz`);
  }
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({ code: "shutting_down" });
  expect((await fetch(`${url}/api/sessions`, { method: "POST" })).status).toBe(201);
  expect(await service.stop("SIGTERM")).toMatchObject({ signal: "SIGTERM", stderr: "" });
  for (const drain of ["301", "-1", "1.5", "soon"]) {
    expect((await home.call(["serve", "--drain", drain])).code).toBe(2);
  }
});

it("[OPS-9] reads the database's address from a file, to keep its password out of sight", async () => {
  await using database = await createPostgres();
  const home = freshHome();
  const file = join(home.home, "database");
  writeFileSync(file, `${database.url}\n`);
  const env = { REPRISE_DATABASE_FILE: file };
  expect(await home.json(["sessions", "list", "--json"], { env })).toEqual([]);
  const service = home.start(["serve", "--port", "0"], { env });
  await service.waitFor(/^database postgres:\/\/tester@/m);
  // what is named closer to the command wins
  const own = await home.call(["sessions", "list", "--database", "own.db"], { env });
  expect(own.code).toBe(0);
  for (const [text, code] of [
    [null, "config_invalid"],
    ["", "config_invalid"],
    ["one\ntwo\n", "config_invalid"],
  ] as const) {
    const other = join(home.home, `other-${String(text?.length)}`);
    if (text !== null) {
      writeFileSync(other, text);
    }
    const refused = await home.call(["sessions", "list"], {
      env: { REPRISE_DATABASE_FILE: other },
    });
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain(`[${code}]`);
  }
});

function linesOf(service: Running): Record<string, unknown>[] {
  return service
    .stderr()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function connectionsTo(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number }>(
      "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'reprise' AND datname = current_database()",
    );
    return rows[0]?.count ?? 0;
  } finally {
    await client.end();
  }
}
