import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { recordedPage, recordPage } from "../../../src/cli/process/page-record.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const DATABASE = "postgres://ann:secret@db.test/sessions";
const PAGE = "http://127.0.0.1:4711/reprise";

const place = () => {
  const folder = join(temporaryFolder(), "services");
  const file = () => join(folder, readdirSync(folder)[0] ?? "");
  return { folder, file };
};

it("[TERM-212] is found for its database, in a file of the user alone, until it is taken away", async () => {
  const { folder, file } = place();
  expect(await recordedPage(folder, DATABASE)).toBe(null);
  const forget = await recordPage(folder, DATABASE, PAGE);
  expect(await recordedPage(folder, DATABASE)).toBe(PAGE);
  expect(await recordedPage(folder, "/another.db")).toBe(null);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(file() + readFileSync(file(), "utf8")).not.toMatch(/secret|db\.test/);
  await forget();
  expect(readdirSync(folder)).toEqual([]);
  expect(await recordedPage(folder, DATABASE)).toBe(null);
});

it("[TERM-212] a service that started later is found, and stays when the earlier one stops", async () => {
  const { folder, file } = place();
  const forget = await recordPage(folder, DATABASE, PAGE);
  await recordPage(folder, DATABASE, "http://127.0.0.1:4712");
  // as if another process had written it
  const later = JSON.parse(readFileSync(file(), "utf8")) as { owner: object };
  writeFileSync(file(), JSON.stringify({ ...later, owner: { ...later.owner, pid: process.ppid } }));
  await forget();
  expect(await recordedPage(folder, DATABASE)).toBe("http://127.0.0.1:4712");
});

it.each([
  [
    "of another machine",
    (owner: object) => ({ page: PAGE, owner: { ...owner, machine: "other" } }),
  ],
  ["of another host", (owner: object) => ({ page: PAGE, owner: { ...owner, host: "other" } })],
  ["of no process", (owner: object) => ({ page: PAGE, owner: { ...owner, pid: 2 ** 22 + 1 } })],
  ["that is no address", (owner: object) => ({ page: "\u001b]8;;x", owner })],
  ["that runs a script", (owner: object) => ({ page: "javascript:alert(1)", owner })],
  ["without a process", () => ({ page: PAGE })],
  ["that is no object", () => null],
  ["without end", (owner: object) => ({ page: `${PAGE}/${"x".repeat(5000)}`, owner })],
])("[TERM-212] one %s is not named", async (_, change) => {
  const { folder, file } = place();
  await recordPage(folder, DATABASE, PAGE);
  const { owner } = JSON.parse(readFileSync(file(), "utf8")) as { owner: object };
  writeFileSync(file(), JSON.stringify(change(owner)));
  expect(await recordedPage(folder, DATABASE)).toBe(null);
});

it("[TERM-212] writes through no link, and nothing fails without a folder", async () => {
  const { folder, file } = place();
  await recordPage(folder, DATABASE, PAGE);
  const [link, target] = [file(), join(temporaryFolder(), "kept")];
  writeFileSync(target, "kept");
  await (
    await recordPage(folder, DATABASE, PAGE)
  )();
  symlinkSync(target, link);
  await recordPage(folder, DATABASE, PAGE);
  expect(readFileSync(target, "utf8")).toBe("kept");
  expect(await recordedPage(folder, DATABASE)).toBe(PAGE);
  await (
    await recordPage(null, DATABASE, PAGE)
  )();
  await (
    await recordPage(join(target, "services"), DATABASE, PAGE)
  )();
});
