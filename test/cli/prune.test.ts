import { DatabaseSync } from "node:sqlite";

import { expect, it } from "vitest";

import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import { appendUserMessage } from "../../src/store/records/messages/append.ts";
import { pruneSession, readPrunable } from "../../src/store/records/sessions/prune.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { idLike, seed, sessionsOf } from "../helpers/sessions/seed.ts";
import { localPrincipal } from "../../src/core/principal.ts";

const OLD = idLike("aaaaaa1");
const OLD_ACTIVE = idLike("bbbbbb2");
const KEPT_BY_CHILD = idLike("cccccc3");
const YOUNG_CHILD = idLike("cccccc4");
const WITH_CHILD = idLike("dddddd5");
const OLD_CHILD = idLike("dddddd6");
const YOUNG = idLike("eeeeee7");
const EMPTY = idLike("ffffff8");

const AGES: Readonly<Record<string, number>> = {
  [OLD]: 91,
  [OLD_ACTIVE]: 91,
  [KEPT_BY_CHILD]: 200,
  [YOUNG_CHILD]: 1,
  [WITH_CHILD]: 100,
  [OLD_CHILD]: 95,
  [YOUNG]: 89,
};

async function seeded(): Promise<Home> {
  const home = freshHome();
  await seed(
    home,
    { id: OLD, messages: ["old"], ended: true },
    { id: OLD_ACTIVE, messages: ["old, active"] },
    { id: KEPT_BY_CHILD, messages: ["parent"] },
    { id: YOUNG_CHILD, messages: ["task"], parent_session_id: KEPT_BY_CHILD },
    { id: WITH_CHILD, messages: ["parent"] },
    { id: OLD_CHILD, messages: ["task"], parent_session_id: WITH_CHILD },
    { id: YOUNG, messages: ["young"], ended: true },
    { id: EMPTY, ended: true },
  );
  const database = new DatabaseSync(home.database);
  const age = database.prepare(
    "UPDATE sessions SET last_message_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?) WHERE id = ?",
  );
  for (const [id, days] of Object.entries(AGES)) {
    age.run(`-${days} days`, id);
  }
  database.exec(`UPDATE sessions SET state = 'ended' WHERE id IN ('${KEPT_BY_CHILD}', '${WITH_CHILD}');
    UPDATE sessions SET created_at = '2020-01-01T00:00:00.000Z' WHERE id = '${EMPTY}'`);
  database.close();
  return home;
}

const idsOf = async (home: Home): Promise<string[]> =>
  (await sessionsOf(home)).map(({ id }) => id).sort();

const prune = (home: Home, ...more: string[]): Promise<{ id: string }[]> =>
  home.json<{ id: string }[]>(["sessions", "prune", "--older-than", "90d", "--json", ...more]);

it("[MOVE-13] [MOVE-26] [MOVE-29] prunes inactive ended sessions, sub-agents with their parent, oldest first", async () => {
  const home = await seeded();
  const all = await idsOf(home);
  const would = await prune(home, "--dry-run");
  expect(would.map(({ id }) => id)).toEqual([EMPTY, WITH_CHILD, OLD_CHILD, OLD]);
  expect(await idsOf(home)).toEqual(all);

  expect(await prune(home, "--yes")).toEqual(would);
  expect(await idsOf(home)).toEqual([OLD_ACTIVE, KEPT_BY_CHILD, YOUNG_CHILD, YOUNG]);
  expect(await prune(home, "--yes")).toEqual([]);
});

it("[QUEUE-28] keeps sessions with a queued exchange, unless --waiting is given", async () => {
  const home = await seeded();
  await home.call(["send", OLD_ACTIVE, "waits"]);
  const old = (...more: string[]) => prune(home, "--dry-run", "--state", "active", ...more);
  expect(await old()).toEqual([]);
  expect((await old("--waiting")).map(({ id }) => id)).toEqual([OLD_ACTIVE]);
});

it("[MOVE-13] --state chooses others; hours and weeks count as well", async () => {
  const home = await seeded();
  const ids = async (...args: string[]): Promise<string[]> =>
    (await home.json<{ id: string }[]>(["sessions", "prune", "--dry-run", "--json", ...args])).map(
      ({ id }) => id,
    );
  expect(await ids("--older-than", "90d", "--state", "active")).toEqual([OLD_ACTIVE]);
  expect(await ids("--older-than", "90d", "--state", "all")).toHaveLength(5);
  expect(await ids("--older-than", "14w")).toEqual([EMPTY]);
  expect(await ids("--older-than", "2136h")).toContain(YOUNG);
  expect(await ids("--older-than", "2137h")).not.toContain(YOUNG);
});

it("[MOVE-29] shows what would be deleted and asks; without a terminal it needs --yes", async () => {
  const home = await seeded();
  const all = await idsOf(home);
  const refused = await home.call(["sessions", "prune", "--older-than", "90d"]);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain(`  ${OLD}  old  (ended; 1 message, 0 threads, 0 checkpoints)`);
  const shown = await home.call(["sessions", "prune", "--older-than", "90d", "--dry-run"]);
  expect(shown.stdout).toMatch(/^Would delete 4 sessions:\n/);
  expect(await idsOf(home)).toEqual(all);
  for (const time of ["90", "0d", "-1d", "90y", "1.5d", "d", ""]) {
    const usage = await home.call(["sessions", "prune", `--older-than=${time}`, "--yes"]);
    expect(usage).toMatchObject({ code: 2, stdout: "" });
  }
  expect(await home.call(["sessions", "prune", "--yes"])).toMatchObject({ code: 2 });
  expect(await idsOf(home)).toEqual(all);
});

it("[MOVE-28] says in which state it found no session", async () => {
  const home = freshHome();
  const said = async (...args: string[]): Promise<string> =>
    (await home.call(["sessions", "prune", "--older-than", "90d", ...args])).stderr;
  expect(await said()).toBe("No ended session is that old. --state all includes active ones.\n");
  expect(await said("--state", "active")).toBe(
    "No active session is that old. --state all includes ended ones.\n",
  );
  expect(await said("--state", "all")).toBe("No session is that old.\n");
});

it("[MOVE-30] keeps a session that is used after it was chosen for pruning", async () => {
  const home = await seeded();
  const old = { older_than_ms: 90 * 24 * 3600 * 1000, state: "active" } as const;
  await using store = await openSqliteStore({ path: home.database });
  const principal = localPrincipal("terminal", null);
  const trees = await store.read(readPrunable, old);
  expect(trees.map(([root]) => root?.session.id)).toEqual([OLD_ACTIVE]);

  await store.write(appendUserMessage, { reference: OLD_ACTIVE, content: "still here", principal });

  expect(await store.write(pruneSession, { ...old, id: OLD_ACTIVE })).toEqual([]);
  expect(await idsOf(home)).toContain(OLD_ACTIVE);
});
