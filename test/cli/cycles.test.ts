import { join } from "node:path";

import type { Command } from "commander";
import { expect, it } from "vitest";

import { createProgram } from "../../src/cli/program.ts";
import { appendUserMessage } from "../../src/store/records/messages/append.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { readSessionIds } from "../../src/store/records/sessions/trees/walk.ts";
import type { Store } from "../../src/store/store.ts";
import { contextOf } from "../helpers/call-program.ts";
import { statementsOf } from "../helpers/count-statements.ts";
import { describeEngines, execute } from "../helpers/engines.ts";
import { freshHome } from "../helpers/reprise.ts";
import { routesOfService } from "../helpers/routes-of-service.ts";
import { startTestServer } from "../helpers/server.ts";
import { temporaryFolder } from "../helpers/temp.ts";

/** Far more than one call sends for these sessions, and far less than a walk in a circle. */
const MOST = 5000;
const DAY = "2026-11-27T12:00:00.000Z";

/** Two sessions that work for each other, one for itself, one below that, and forks that began from each other. */
const NAMES = ["first", "second", "own", "below", "fork", "other"] as const;
const PARENTS = { first: "second", second: "first", own: "own", below: "own" } as const;
const ORIGINS = { second: "fork", own: "own", fork: "other", other: "fork" } as const;

/** Those with which each command and route is called. */
const CALLED = ["first", "own", "fork"] as const;

type Planted = Readonly<Record<(typeof NAMES)[number], string>>;

async function plant(store: Store): Promise<Planted> {
  const made = [];
  for (const name of NAMES) {
    const { id } = await store.write(createSession, {
      repo_path: "/nowhere",
      project_key: "0123456789abcdef",
    });
    for (const content of ["one", "two", "three"]) {
      await store.write(appendUserMessage, { reference: id, content });
    }
    await execute(
      store,
      `INSERT INTO exchanges (session_id, n, id, revision, state, asked_by, parent_n, thread_suffix, begun_at, ended_at)
        VALUES (?, 1, ?, 1, 'done', 'terminal', 1, 0, '${DAY}', '${DAY}')`,
      id,
      `e${id}`,
    );
    await execute(
      store,
      `INSERT INTO file_changes (session_id, number, n, call_id, tool, root, path, state, host, ts)
        VALUES (?, 1, 1, 'c', 'edit_file', '/r', 'a', 'made', 'shop', '${DAY}')`,
      id,
    );
    await execute(store, "UPDATE sessions SET exchange_count = 1 WHERE id = ?", id);
    made.push([name, id]);
  }
  const ids = Object.fromEntries(made) as Planted;
  for (const [name, parent] of Object.entries(PARENTS)) {
    await execute(
      store,
      "UPDATE sessions SET parent_session_id = ?, parent_call_id = ? WHERE id = ?",
      ids[parent],
      `c-${name}`,
      ids[name as keyof Planted],
    );
  }
  for (const [name, origin] of Object.entries(ORIGINS)) {
    await execute(
      store,
      "UPDATE sessions SET forked_from_session_id = ?, forked_from_seq = 3 WHERE id = ?",
      ids[origin],
      ids[name as keyof Planted],
    );
  }
  return ids;
}

/** Commands that wait for a person or for another process. */
const WAITING = ["follow", "serve", "setup", "complete", "sessions import"];
const FORMATS = [
  ["--format", "md"],
  ["--format", "html"],
  ["--redact", "--preview"],
] as const;

/** Each command that opens a database, with its arguments; those without a session come first. */
async function commandLines(): Promise<(readonly string[])[]> {
  const options: Readonly<Record<string, readonly string[]>> = {
    copy: ["--to", join(temporaryFolder(), "copy.db")],
    stats: ["--by", "session"],
    sync: ["--with", join(temporaryFolder(), "sync.db")],
    "sessions delete": ["--yes"],
    "sessions fork": ["--at", "1"],
    "sessions move": ["--repo", "/", "--yes"],
    "sessions prune": ["--older-than", "9000d", "--yes"],
  };
  const { cli } = contextOf(["help"], { script: "", cwd: "/", env: {} });
  const linesOf = (command: Command, names: readonly string[]): (readonly string[])[] => {
    if (command.commands.length > 0) {
      return command.commands.flatMap((child) => linesOf(child, [...names, child.name()]));
    }
    const name = names.join(" ");
    const isOfStore = command.options.some(({ long }) => long === "--database");
    if (!isOfStore || WAITING.includes(name)) {
      return [];
    }
    const given = command.registeredArguments.map((each) => `<${each.name()}>`);
    const line = [...names, ...given, ...(options[name] ?? [])];
    const others = name === "sessions export" ? FORMATS : [];
    return [line, ...others.map((each) => [...line, ...each])];
  };
  const lines = linesOf(await createProgram(cli), []);
  return lines.toSorted((a, b) => Number(a.includes("<id>")) - Number(b.includes("<id>")));
}

/** Bodies of requests that change something; the others send none. */
const BODIES: Readonly<Record<string, unknown>> = {
  "PATCH /api/sessions/{id}": { name: "named", model: "demo:echo", repo_path: "/" },
  "POST /api/sessions/{id}/exchanges": { content: "next" },
  "POST /api/sessions/{id}/fork": { at_seq: 1 },
  "POST /api/sessions/{id}/messages": { content: "next" },
};

describeEngines("sessions whose parents or origins form a cycle", (engine) => {
  it("[FORK-26] end every command", async () => {
    const database = await engine.create();
    const store = await database.open();
    const home = freshHome({ REPRISE_DATABASE: database.location });
    const lines = await commandLines();
    expect(lines.length).toBeGreaterThan(45);
    let ids = await plant(store);
    for (const line of lines) {
      for (const name of line.includes("<id>") ? CALLED : CALLED.slice(0, 1)) {
        const args = line.map((word) =>
          word === "<id>" ? ids[name] : word.replace(/^<.*/, "word"),
        );
        await statementsOf(
          async () => {
            const { stderr } = await home.call(args);
            expect([name, args, stderr]).not.toContainEqual(expect.stringContaining("[internal]"));
          },
          { max: MOST },
        );
        ids = line.includes("delete") ? await plant(store) : ids;
      }
    }
  });

  it("[FORK-26] end every route", async () => {
    const store = await (await engine.create()).open();
    const routes = new Set(await routesOfService());
    await using server = await startTestServer({ store, token: "t" });
    let ids = await plant(store);
    for (const route of [...routes].filter((each) => each.includes("/sessions/{id}"))) {
      const [method = "", path = ""] = route.split(" ");
      for (const name of method === "HEAD" || method === "OPTIONS" ? [] : CALLED) {
        const body = JSON.stringify(BODIES[route]);
        await statementsOf(
          async () => {
            const ended = new AbortController();
            const url = server.url + path.replace("{id}", ids[name]).replace("{n}", "1");
            const headers = { authorization: "Bearer t", "content-type": "application/json" };
            const request = { method, headers, signal: ended.signal };
            const answer = await fetch(url, body === undefined ? request : { ...request, body });
            const isStream = /\/(live|stream)$/.test(path);
            const text = isStream ? "" : await answer.text();
            ended.abort();
            expect([name, route, text]).not.toContainEqual(expect.stringContaining('"internal"'));
          },
          { max: MOST },
        );
        ids = method === "DELETE" ? await plant(store) : ids;
      }
    }
  });

  it("[FORK-26] are shown once each, refused as JSON, and deleted without the others", async () => {
    const database = await engine.create();
    const store = await database.open();
    const home = freshHome({ REPRISE_DATABASE: database.location });
    const ids = await plant(store);
    const text = await home.call(["sessions", "export", ids.first, "--format", "md"]);
    expect(text.stdout.match(/^- session: .*$/gm)).toHaveLength(2);
    const json = await home.call(["sessions", "export", ids.first]);
    expect(json).toMatchObject({ code: 1, stderr: expect.stringContaining("form a cycle") });
    for (const [name, left] of [
      ["first", ["own", "below", "fork", "other"]],
      ["own", ["fork", "other"]],
      ["fork", ["other"]],
    ] as const) {
      expect((await home.call(["sessions", "delete", ids[name], "--yes"])).code).toBe(0);
      const rows = await store.read(readSessionIds, { after: "", limit: 9, roots: false });
      expect(rows.map(({ id }) => id)).toEqual(left.map((each) => ids[each]).toSorted());
    }
  });
});
