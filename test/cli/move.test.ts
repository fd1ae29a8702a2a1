import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { takeLease } from "../../src/store/records/leases/lease.ts";
import { endSession } from "../../src/store/records/sessions/change.ts";
import { keepRule, readPermissions } from "../../src/store/records/sessions/permissions.ts";
import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import { owner } from "../helpers/engines.ts";
import { type SentMessage, startModelServer } from "../helpers/model-server.ts";
import { freshHome } from "../helpers/reprise.ts";
import { idLike, seed, sessionsOf } from "../helpers/sessions/seed.ts";
import { openTerminal } from "../helpers/terminal.ts";

const PARENT = idLike("aaaaaa1");
const CHILD = idLike("bbbbbb2");

it("[MOVE-36] [MOVE-37] [MOVE-38] [CLI-390] moves a session with its sub-agents, after one question", async () => {
  const home = freshHome();
  const other = join(home.home, "other");
  mkdirSync(other);
  await seed(
    home,
    { id: PARENT, messages: ["one"], repo_path: home.project },
    { id: CHILD, messages: ["task"], parent_session_id: PARENT, repo_path: home.project },
  );
  await using store = await openSqliteStore({ path: home.database });
  await store.write(keepRule, { id: PARENT, rule: "edit_file(src/**)", n: null });
  const move = ["sessions", "move", "aaaaaa", "--repo", other];
  const folders = async () => (await sessionsOf(home)).map(({ repo_path }) => repo_path);

  const refused = await home.call(move);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain("no terminal to confirm on. Use --yes");
  const no = openTerminal(home, `reprise ${move.join(" ")}`);
  await no.shows(/Move it to .*other\? \[y\/N\] $/);
  no.type("n\r");
  expect((await no.finished).code).toBe(1);
  expect(await folders()).toEqual([home.project, home.project]);

  const moved = await home.call([...move, "--yes"]);
  expect(moved).toMatchObject({ code: 0, stdout: `Moved to ${other}: ${PARENT}  one\n` });
  expect(await folders()).toEqual([other, other]);
  expect(await store.read(readPermissions, { id: PARENT })).toMatchObject({ rules: [] });
  expect((await home.call(["--continue"], { cwd: other })).stderr).toContain(PARENT);
  expect(await home.call(["sessions", "move", CHILD, "--repo", other, "--yes"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`moved with its parent ${PARENT}`),
  });

  await store.write(takeLease, { session_id: CHILD, owner, life_ms: 60_000 });
  const busy = await home.call([...move, "--yes"]);
  expect(busy.stderr).toMatch(/\[session_busy\]/);
  await store.write(endSession, { id: PARENT });
  expect((await home.call([...move, "--yes"])).stderr).toContain("[session_ended]");
});

it("[MOVE-39] undo after a move changes the old folder, as shown, and nothing in the new one", async () => {
  const server = await startModelServer({
    answer: (messages: readonly SentMessage[]) =>
      messages.at(-1)?.role === "user"
        ? { toolCalls: [{ name: "write_file", arguments: '{"path":"a.txt","content":"made\\n"}' }] }
        : { content: "done" },
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  const other = join(home.home, "other");
  mkdirSync(other);
  expect(await home.call(["--permission", "edits", "-p", "make it"])).toMatchObject({ code: 0 });
  writeFileSync(join(other, "a.txt"), "made\n");
  const id = (await sessionsOf(home))[0]?.id ?? "";
  expect(await home.call(["sessions", "move", id, "--repo", other, "--yes"])).toMatchObject({
    code: 0,
  });
  expect((await home.call(["sessions", "undo", id])).stdout).toContain("a.txt");
  expect(readFileSync(join(other, "a.txt"), "utf8")).toBe("made\n");
  expect(() => readFileSync(join(home.project, "a.txt"))).toThrow("ENOENT");
});
