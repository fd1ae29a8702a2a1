import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import { projectKeyOf } from "../../src/store/project-key.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { patchSession } from "../../src/store/records/sessions/patch.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { idLike, seed } from "../helpers/sessions/seed.ts";
import { localPrincipal } from "../../src/core/principal.ts";

/** The titles and their marks, as a pipe or a terminal gets them. */
async function titles(home: Home, args: readonly string[], terminal = false): Promise<string[]> {
  const { code, stdout } = await home.call(["sessions", "list", ...args], { terminal });
  expect(code).toBe(0);
  const [heading = "", ...lines] = stdout.split(/\r?\n/).slice(0, -1);
  return lines.map((line) =>
    terminal ? (line.split(/ {2,}/)[1] ?? "") : line.slice(heading.indexOf("TITLE")),
  );
}

it("[CLI-204] [CLI-205] rename, archive and unarchive change what lists show, also after the end", async () => {
  const home = freshHome();
  await seed(
    home,
    { id: idLike("aaaaaa1"), messages: ["first"], ended: true },
    { id: idLike("bbbbbb1") },
  );
  const rename = (...name: string[]) => home.call(["sessions", "rename", "aaaaaa", ...name]);
  expect((await rename("Größe \u001b[31m")).stdout).toBe(
    `Renamed: ${idLike("aaaaaa1")}  Größe ␛[31m\n`,
  );
  const archived = await home.call(["sessions", "archive", "aaaaaa"]);
  expect(archived.stdout).toContain(`Archived: ${idLike("aaaaaa1")}  Größe`);
  expect(await titles(home, [])).toEqual(["(no message yet)", "Größe ␛[31m  [archived]"]);
  const shown = await home.call(["sessions", "show", "aaaaaa"]);
  expect(shown.stdout).toMatch(/^Größe ␛\[31m\n  title     first\n[^]*\n  archived  since 20/);
  expect(await home.json(["sessions", "show", "aaaaaa", "--json"])).toMatchObject({
    title: "first",
    name: "Größe \u001b[31m",
    archived_at: expect.stringMatching(/^20/),
    metadata: {},
  });
  expect(await home.json(["sessions", "rename", "aaaaaa", "--json"])).toMatchObject({ name: null });
  expect(await home.json(["sessions", "unarchive", "aaaaaa", "--json"])).toMatchObject({
    archived_at: null,
  });
  expect(await titles(home, [])).toEqual(["(no message yet)", "first"]);
  expect(await home.json(["sessions", "list", "--json"])).toMatchObject([
    { name: null, archived_at: null, metadata: {} },
    { title: "first", name: null, archived_at: null, metadata: {} },
  ]);
  for (const name of ["", "x".repeat(256)]) {
    expect(await rename(name)).toMatchObject({ code: 2, stdout: "" });
  }
  expect((await home.call(["sessions", "archive", "cccccc"])).stderr).toContain(
    "[session_not_found]",
  );
});

it("[CLI-202] a terminal shows no archived sessions, and sub-agents as their number", async () => {
  const home = freshHome();
  const [root, archived] = await seed(
    home,
    { id: idLike("aaaaaa1"), messages: ["root"] },
    { id: idLike("bbbbbb1"), messages: ["archived"] },
    { id: idLike("cccccc1"), messages: ["alone"] },
  );
  {
    await using store = await openSqliteStore({ path: home.database });
    const child = await store.write(createSession, { parent_session_id: root?.id ?? "" });
    await store.write(createSession, { parent_session_id: child.id });
    const principal = localPrincipal("terminal", null);
    const change = { name: "Child", metadata: { team: "red\u001b[31m" } };
    await store.write(patchSession, { reference: child.id, change, project_key: null, principal });
    const archive = { archived: true };
    const reference = archived?.id ?? "";
    await store.write(patchSession, { reference, change: archive, project_key: null, principal });
    expect((await home.call(["sessions", "show", child.id])).stdout).toContain(
      "\n  metadata  team: red␛[31m\n",
    );
  }
  const every = ["(no message yet)", "Child", "alone", "archived  [archived]", "root"];
  expect((await titles(home, [])).toSorted()).toEqual(every);
  expect(await titles(home, ["--all"], true)).toEqual([
    "alone",
    "archived [archived]",
    "root",
    "└ Child",
    "└ (no message yet)",
  ]);
  expect(await titles(home, [], true)).toEqual(["alone", "root [2 sub-agents]"]);
  expect(await titles(home, ["--limit", "all"], true)).toEqual(["alone", "root [2 sub-agents]"]);
  expect(await titles(home, ["--archived"], true)).toEqual(["archived [archived]"]);
  expect(await titles(home, ["--archived"])).toEqual(["archived  [archived]"]);
  expect(await titles(home, ["--title", "CH"], true)).toEqual(["Child [sub-agent]"]);
  const { stdout } = await home.call(["sessions", "list", "--json"], { terminal: true });
  expect(JSON.parse(stdout)).toHaveLength(5);
});

it("[CLI-203] --here, --since and --title choose sessions, together too", async () => {
  const home = freshHome();
  const repo_path = home.project;
  const here = { repo_path, project_key: await projectKeyOf(repo_path) };
  await seed(
    home,
    { id: idLike("aaaaaa1"), messages: ["Release 1"], ...here },
    { id: idLike("bbbbbb1"), messages: ["Other"], ...here },
    { id: idLike("cccccc1"), messages: ["release 2"] },
  );
  {
    await using store = await openSqliteStore({ path: home.database });
    await store.write(
      ({ db }) =>
        db
          .updateTable("sessions")
          .set({ last_message_at: "2020-05-05T00:00:00.000Z" })
          .where("id", "=", idLike("bbbbbb1"))
          .execute(),
      null,
    );
  }
  expect(await titles(home, ["--here"])).toEqual(["Release 1", "Other"]);
  expect(await titles(home, ["--title", "rel"])).toEqual(["release 2", "Release 1"]);
  expect(await titles(home, ["--since", "1h"])).toEqual(["release 2", "Release 1"]);
  expect(await titles(home, ["--since", "2020-05-01", "--limit", "all"])).toHaveLength(3);
  expect(await titles(home, ["--here", "--since", "7d", "--title", "RELEASE"])).toEqual([
    "Release 1",
  ]);
  const none = await home.call(["sessions", "list", "--title", "x"]);
  expect(none).toMatchObject({ code: 0, stdout: "" });
  expect(none.stderr).toBe("No sessions found; leave out options to see others.\n");
  for (const wrong of [
    ["--since", "yesterday"],
    ["--since", "2020-13-01"],
    ["--title", ""],
  ]) {
    expect((await home.call(["sessions", "list", ...wrong])).code).toBe(2);
  }
});

it("[CLI-422] pins are shown, filtered, carried by exports and not by forks, and keep a session from prune", async () => {
  const home = freshHome();
  const [kept, gone] = [idLike("aaaaaa1"), idLike("bbbbbb1")];
  await seed(home, { id: kept, messages: ["kept"], ended: true }, { id: gone, messages: ["gone"] });
  const pinned = await home.call(["sessions", "pin", "aaaaaa"]);
  expect(pinned.stdout).toBe(`Pinned: ${kept}  kept\n`);
  expect(await titles(home, [])).toEqual(["gone", "kept  [pinned]"]);
  expect(await titles(home, [], true)).toEqual(["gone", "kept [pinned]"]);
  expect(await titles(home, ["--pinned"])).toEqual(["kept  [pinned]"]);
  const shown = await home.call(["sessions", "show", "aaaaaa"]);
  expect(shown.stdout).toMatch(/\n {2}pinned +since 20/);
  const fork = await home.json(["sessions", "fork", "aaaaaa", "--json"]);
  expect(fork).toMatchObject({ pinned_at: null });
  const { stdout } = await home.call(["sessions", "export", "aaaaaa"]);
  const other = freshHome();
  const file = join(other.home, "export.json");
  writeFileSync(file, stdout);
  expect((await other.call(["sessions", "import", file])).code).toBe(0);
  expect(await titles(other, ["--pinned"])).toEqual(["kept  [pinned]"]);
  {
    await using store = await openSqliteStore({ path: home.database });
    const old = "2020-01-01T00:00:00.000Z";
    await store.write(
      ({ db }) =>
        db.updateTable("sessions").set({ last_message_at: old, created_at: old }).execute(),
      null,
    );
  }
  const prune = ["sessions", "prune", "--older-than", "1w", "--state", "all", "--yes"];
  expect((await home.call(prune)).code).toBe(0);
  expect(await titles(home, [])).toEqual(["kept  [pinned]"]);
  expect(await home.json(["sessions", "unpin", "aaaaaa", "--json"])).toMatchObject({
    pinned_at: null,
  });
  expect(await titles(home, ["--pinned"])).toEqual([]);
});
