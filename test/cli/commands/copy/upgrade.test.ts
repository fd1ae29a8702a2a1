import { readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

import { expect, it } from "vitest";

import { latestVersion } from "../../../../src/store/engines/migrations/history.ts";
import { LATER, LATER_STEP, LATER_VERSION } from "../../../helpers/later-version.ts";
import { makeOlderDatabase, readTables } from "../../../helpers/older-database.ts";
import { freshHome, type Home } from "../../../helpers/reprise.ts";

it("[UPGRADE-7] upgrade --dry-run shows what would happen and changes nothing", async () => {
  const home = await olderHome();
  const before = readFileSync(home.database);

  const shown = await home.run(["upgrade", "--dry-run"], LATER);
  const plan = await home.run(["upgrade", "--dry-run", "--json"], LATER);

  expect(shown).toMatchObject({ code: 0, stderr: "" });
  expect(shown.stdout).toContain(`from schema version ${latestVersion()} to ${LATER_VERSION}`);
  expect(shown.stdout).toContain(backupOf(home));
  expect(JSON.parse(plan.stdout)).toMatchObject({
    from: latestVersion(),
    to: LATER_VERSION,
    steps: [LATER_STEP],
    backup: { path: backupOf(home), needed: expect.any(Number), free: expect.any(Number) },
  });
  expect(readFileSync(home.database)).toEqual(before);
  expect(backupsOf(home)).toEqual([]);
});

it("[UPGRADE-2] [UPGRADE-10] upgrade runs once and reports the upgrade once", async () => {
  const home = await olderHome();

  const done = await home.run(["upgrade"], LATER);
  const again = await home.run(["upgrade"], LATER);

  expect(done).toMatchObject({ code: 0, stdout: `Applied ${LATER_STEP}.\n` });
  expect(`${done.stdout}${done.stderr}`.match(/upgraded/gi)).toHaveLength(1);
  expect(done.stderr).toContain(backupOf(home));
  expect(again).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("nothing to do"),
    stderr: "",
  });
  expect(readTables(home.database)).toMatchObject({ version: LATER_VERSION, sessions: 3 });
  expect(readTables(backupOf(home))).toMatchObject({ version: latestVersion(), sessions: 3 });
});

it("[CLI-57] the first command reports the upgrade and its copy on standard error, the next one nothing", async () => {
  const home = await olderHome();

  const first = await home.run(["sessions", "list", "--json"], LATER);
  const second = await home.run(["sessions", "list", "--json"], LATER);

  expect(JSON.parse(first.stdout)).toHaveLength(3);
  expect(first.stderr).toMatch(/^note: The database was upgraded[^\n]*\.backup\n$/);
  expect(second).toMatchObject({ code: 0, stdout: first.stdout, stderr: "" });
});

it("[CLI-58] no copy is made with --no-backup, wherever it is given", async () => {
  for (const args of [
    ["sessions", "list", "--no-backup"],
    ["--no-backup", "sessions", "list"],
    ["--no-backup", "-p", "hello", "--model", "demo"],
    ["upgrade", "--no-backup"],
  ]) {
    const home = await olderHome();

    const run = await home.run(args, LATER);

    expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining("No backup was made.") });
    expect(readTables(home.database)).toMatchObject({ version: LATER_VERSION });
    expect(backupsOf(home)).toEqual([]);
  }
});

it("[CLI-57] the service logs the upgrade", async () => {
  const home = await olderHome();
  const service = home.start(["serve", "--port", "0"], LATER);
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

it("[UPGRADE-11] what this version stored opens, verifies, continues and is exported unchanged by the next one", async () => {
  const home = freshHome({ REPRISE_MODEL: "demo" });
  const { session_id: id } = await home.json<{ session_id: string }>(["-p", "one", "--json"]);
  await home.call(["--session", id, "-p", "two"]);
  const exported = async (run: Home["call"]) => {
    const { stdout } = await run(["sessions", "export", id]);
    return stdout.replace(/"exported_at":"[^"]+"/, "");
  };
  const before = await exported(home.call);

  expect(await home.run(["upgrade"], LATER)).toMatchObject({ code: 0 });

  const { stdout } = await home.run(["sessions", "export", id], LATER);
  expect(stdout.replace(/"exported_at":"[^"]+"/, "")).toBe(before);
  for (const args of [
    ["sessions", "verify", id],
    ["--session", id, "-p", "three"],
    ["sessions", "verify", id],
  ]) {
    expect(await home.run(args, LATER)).toMatchObject({ code: 0 });
  }
  const shown = await home.run(["sessions", "show", id], LATER);
  expect(shown.stdout).toMatch(/one[^]*two[^]*three/);
});

it("[STORE-26] [OPS-15] this version refuses what the next one has upgraded, and changes nothing", async () => {
  const home = await olderHome();
  expect(await home.run(["upgrade"], LATER)).toMatchObject({ code: 0 });
  const before = readFileSync(home.database);

  for (const args of [
    ["sessions", "list"],
    ["upgrade", "--dry-run"],
    ["serve", "--port", "0"],
  ]) {
    const refused = await home.run(args);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(/^reprise: [^\n]+ \[database_newer\]\n$/);
  }
  expect(readFileSync(home.database)).toEqual(before);
});

it("[DOCTOR-4] [MOVE-16] [COPY-7] [TERM-83] doctor, backup, copy --from and completion upgrade nothing", async () => {
  const home = await olderHome();
  const copy = `${home.project}/copy.db`;

  const doctor = await home.run(["doctor", "--json"], LATER);
  const { checks } = JSON.parse(doctor.stdout) as { checks: { name: string; status: string }[] };
  expect(checks).toContainEqual(
    expect.objectContaining({
      name: "version",
      status: "warning",
      sentence: expect.stringContaining(`schema version ${latestVersion()}`),
    }),
  );
  expect(await home.run(["backup", copy], LATER)).toMatchObject({ code: 0 });
  expect(readTables(copy)).toMatchObject({ version: latestVersion(), sessions: 3 });
  const copied = await home.run(["copy", "--from", copy, "--to", `${home.project}/to.db`], LATER);
  expect(copied).toMatchObject({ code: 1, stdout: "" });
  expect(copied.stderr).toMatch(/^reprise: --from: .*\[database_unsupported\]\n$/);
  await home.run(["complete", "--", "sessions", "show", ""], LATER);

  expect(readTables(home.database)).toMatchObject({ version: latestVersion(), sessions: 3 });
  expect(readdirSync(home.project)).toEqual(["copy.db"]);
});

/** A home whose database this version wrote. */
async function olderHome(): Promise<Home> {
  const home = freshHome();
  await makeOlderDatabase(home.database);
  return home;
}

function backupOf(home: Home): string {
  return `${home.database}.version-${latestVersion()}.backup`;
}

function backupsOf(home: Home): string[] {
  return readdirSync(dirname(home.database)).filter((name) => name.endsWith(".backup"));
}
