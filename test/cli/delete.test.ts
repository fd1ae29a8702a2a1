import { existsSync } from "node:fs";

import { describe, expect, it, vi } from "vitest";

import { takeLease } from "../../src/store/records/leases/lease.ts";
import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { execute, owner } from "../helpers/engines.ts";
import { idLike, seed, sessionsOf } from "../helpers/sessions/seed.ts";

const PARENT = idLike("aaaaaa1");
const CHILD = idLike("bbbbbb2");
const OTHER = idLike("cccccc3");

async function seeded(): Promise<Home> {
  const home = freshHome();
  await seed(
    home,
    { id: PARENT, messages: ["one", "two"] },
    { id: CHILD, messages: ["task"], parent_session_id: PARENT },
    { id: OTHER, messages: ["stays"] },
  );
  return home;
}

const idsOf = async (home: Home): Promise<string[]> =>
  (await sessionsOf(home)).map(({ id }) => id).sort();

const WHAT_GOES = [
  `  ${PARENT}  one  (active; 2 messages, 0 threads, 0 checkpoints)`,
  `    ${CHILD}  task  (active; 1 message, 0 threads, 0 checkpoints)`,
].join("\n");

describe("sessions delete", () => {
  it("[MOVE-10] [MOVE-11] deletes with --yes, and reports the deleted sub-agents", async () => {
    const home = await seeded();
    await home.call(["sessions", "rename", CHILD, "Rent \u001b[2J"]);
    const deleted = await home.call(["sessions", "delete", "aaaaaa", "--yes"]);
    const listed = WHAT_GOES.replace("task", "Rent ␛[2J");
    expect(deleted).toMatchObject({ code: 0, stderr: "", stdout: `Deleted:\n${listed}\n` });
    expect(await idsOf(home)).toEqual([OTHER]);
    expect(await home.call(["sessions", "delete", PARENT, "--yes"])).toMatchObject({ code: 3 });
    expect(await home.json(["sessions", "delete", OTHER, "--yes", "--json"])).toEqual([
      {
        id: OTHER,
        title: "stays",
        parent_session_id: null,
        messages: 1,
        threads: 0,
        checkpoints: 0,
      },
    ]);
    expect(await idsOf(home)).toEqual([]);
  });

  it("[MOVE-10] deletes the checkpoints too: a session with the same id remembers nothing", async () => {
    const home = freshHome();
    await home.call(["--session", PARENT, "-p", "My name is Ada."]);
    await home.call(["sessions", "delete", PARENT, "--yes"]);
    const { answer } = await home.json<{ answer: string }>([
      "--session",
      PARENT,
      "-p",
      "What is my name?",
      "--json",
    ]);
    expect(answer).not.toContain("Ada");
  });

  it("[MOVE-31] keeps a thread without a session whose id begins with the session's", async () => {
    const home = await seeded();
    await using store = await openSqliteStore({ path: home.database });
    for (const id of [`${PARENT}:0`, `${PARENT}:notes`, `${PARENT}:00`]) {
      await execute(store, "INSERT INTO threads (thread_id) VALUES (?)", id);
    }
    const [deleted] = await home.json<object[]>(["sessions", "delete", PARENT, "--yes", "--json"]);
    expect(deleted).toMatchObject({ threads: 1 });
    const left = await home.json<{ thread_id: string }[]>(["threads", "list", "--json"]);
    expect(left.map(({ thread_id }) => thread_id)).toEqual([`${PARENT}:00`, `${PARENT}:notes`]);
  });

  it("[MOVE-11] [MOVE-25] without a terminal it needs --yes, shows what would be deleted and deletes nothing", async () => {
    const home = await seeded();
    const refused = await home.call(["sessions", "delete", "aaaaaa"], { input: "y\n" });
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toBe(
      `This deletes for good:\n${WHAT_GOES}\nreprise: Nothing was deleted, because there is no terminal to confirm on. Use --yes to delete without a question. [invalid_usage]\n`,
    );
    expect(await idsOf(home)).toEqual([PARENT, CHILD, OTHER]);
  });

  it("[MOVE-12] is refused while an exchange is running in the session or a sub-agent", async () => {
    const home = await seeded();
    await using store = await openSqliteStore({ path: home.database });
    await store.write(takeLease, { session_id: CHILD, owner, life_ms: 60_000 });
    const refused = await home.call(["sessions", "delete", "aaaaaa", "--yes"]);
    expect(refused).toMatchObject({ code: 6, stdout: "" });
    expect(refused.stderr).toContain("[session_busy]");
    expect(await idsOf(home)).toEqual([PARENT, CHILD, OTHER]);
    await home.call(["sessions", "end", "aaaaaa"]);
    expect(await home.call(["sessions", "delete", "aaaaaa", "--yes"])).toMatchObject({ code: 0 });
  });
});

const canMakeTerminal = existsSync("/usr/bin/script") && process.platform === "linux";

describe.skipIf(!canMakeTerminal)("in a terminal (needs util-linux' script)", () => {
  it.each([
    ["n\r", 1, 3],
    ["\r", 1, 3],
    ["\u0004", 1, 3],
    ["y\r", 0, 1],
    ["YES\r", 0, 1],
  ])("[MOVE-11] asks, and only a yes deletes: %j", async (keys, code, left) => {
    const home = await seeded();
    const terminal = home.startShell(
      "exec script -qfec 'reprise sessions delete aaaaaa' /dev/null",
      { env: { TERM: "xterm" } },
    );
    await terminal.waitFor(/Delete\? \[y\/N\] /);
    terminal.child.stdin?.write(keys);
    expect((await terminal.finished).code).toBe(code);
    expect(await idsOf(home)).toHaveLength(left);
  });
});

it("deletes a session that is open elsewhere, and leaving it there is no failure", async () => {
  const home = freshHome();
  await seed(home, { id: PARENT, messages: ["one"] });
  const open = home.start(["--session", PARENT]);
  open.child.stdin?.write("hi\n");
  await open.waitFor(/\[demo\]/);
  // not before its exchange has ended
  await vi.waitFor(
    async () => {
      const { code } = await home.call(["sessions", "delete", PARENT, "--yes"]);
      expect(code).toBe(0);
    },
    { timeout: 60_000 },
  );
  open.child.stdin?.end();
  expect(await open.finished).toMatchObject({ code: 0 });
});
