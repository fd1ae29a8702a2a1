import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

import { expect, it } from "vitest";

import { latestVersion } from "../../src/store/engines/migrations/history.ts";
import { makeOlderDatabase, OLDER_VERSION, readTables } from "../helpers/older-database.ts";
import { unusedHome, type Home } from "../helpers/reprise.ts";

it("[UPGRADE-7] upgrade --dry-run shows what would happen and changes nothing", async () => {
  const home = olderHome();
  const before = readFileSync(home.database);

  const shown = await home.call(["upgrade", "--dry-run"]);
  const plan = await home.json(["upgrade", "--dry-run", "--json"]);

  expect(shown).toMatchObject({ code: 0, stderr: "" });
  expect(shown.stdout).toContain(`from schema version ${OLDER_VERSION} to ${latestVersion()}`);
  expect(shown.stdout).toContain(backupOf(home));
  expect(plan).toMatchObject({
    from: OLDER_VERSION,
    to: latestVersion(),
    steps: [expect.stringMatching(/^\d{4}-/)],
    backup: { path: backupOf(home), needed: expect.any(Number), free: expect.any(Number) },
  });
  expect(readFileSync(home.database)).toEqual(before);
  expect(readdirSync(dirname(home.database)).filter((name) => name.endsWith(".backup"))).toEqual(
    [],
  );
});

it("[UPGRADE-2] [UPGRADE-10] upgrade runs once and reports the upgrade once", async () => {
  const home = olderHome();

  const done = await home.call(["upgrade"]);
  const again = await home.call(["upgrade"]);

  expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Applied \d{4}-.*\.\n$/) });
  expect(`${done.stdout}${done.stderr}`.match(/upgraded/gi)).toHaveLength(1);
  expect(done.stderr).toContain(backupOf(home));
  expect(again).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("nothing to do"),
    stderr: "",
  });
  expect(readTables(home.database)).toMatchObject({ version: latestVersion(), sessions: 3 });
  expect(readTables(backupOf(home))).toMatchObject({ version: OLDER_VERSION, sessions: 3 });
});

it("[CLI-57] the first command reports the upgrade and its copy on standard error, the next one nothing", async () => {
  const home = olderHome();

  const first = await home.call(["sessions", "list", "--json"]);
  const second = await home.call(["sessions", "list", "--json"]);

  expect(JSON.parse(first.stdout)).toHaveLength(3);
  expect(first.stderr).toMatch(/^note: The database was upgraded[^\n]*\.backup\n$/);
  expect(second).toMatchObject({ code: 0, stdout: first.stdout, stderr: "" });
});

it.each([
  [["sessions", "list", "--no-backup"]],
  [["--no-backup", "sessions", "list"]],
  [["--no-backup", "-p", "hello", "--model", "demo"]],
  [["upgrade", "--no-backup"]],
])("[CLI-58] no copy is made with %j", async (args) => {
  const home = olderHome();

  const run = await home.call(args);

  expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining("No backup was made.") });
  expect(readTables(home.database)).toMatchObject({ version: latestVersion() });
  expect(readdirSync(dirname(home.database)).filter((name) => name.endsWith(".backup"))).toEqual(
    [],
  );
});

it("[CLI-57] the service logs the upgrade", async () => {
  const home = olderHome();
  const service = home.start(["serve", "--port", "0"]);
  await service.waitFor(/listening/);

  const lines = service.stderr().trim().split("\n");

  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      time: expect.any(String),
      level: "warn",
      event: "notice",
      sentence: expect.stringContaining(backupOf(home)),
    },
  ]);
});

/** A home whose database the version before wrote. */
function olderHome(): Home {
  const home = unusedHome();
  mkdirSync(dirname(home.database), { recursive: true, mode: 0o700 });
  makeOlderDatabase(home.database);
  return home;
}

function backupOf(home: Home): string {
  return `${home.database}.version-${OLDER_VERSION}.backup`;
}
