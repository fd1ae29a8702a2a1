import { existsSync } from "node:fs";

import { expect, it } from "vitest";

import { openReprise, RepriseSaver } from "../../src/entries/langgraph.ts";
import { openSqliteStore } from "../../src/entries/stores.ts";
import { quote } from "../../src/core/text/terminal-text.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const thread = { configurable: { thread_id: "thread" } };

it.each([
  [":memory:", "MemorySaver"],
  ["", "No database is named"],
  [" ", "No database is named"],
  [undefined, "No database is named"],
  ["postgress://user:secret@host/name", "postgres://user@host"],
  ["postgres:user:secret@host", "postgres://user@host"],
])("[SAVER-9] a program cannot open %j", async (location, sentence) => {
  const refused = { code: "config_invalid", message: expect.stringContaining(sentence) };
  await expect(Reflect.apply(openReprise, null, [location])).rejects.toMatchObject(refused);
  const saver: RepriseSaver = Reflect.construct(RepriseSaver, [location]);
  await expect(saver.getTuple(thread)).rejects.toMatchObject(refused);
  await saver.end();
  expect(existsSync(String(location))).toBe(false);
});

it("[SAVER-9] refuses a folder, and names it", async () => {
  const folder = temporaryFolder();
  await expect(openReprise(folder)).rejects.toMatchObject({
    code: "database_unavailable",
    message: `The database path ${quote(folder)} is a folder or a device. Give the path of a file.`,
  });
});

it("[SAVER-9] takes a store of any file", async () => {
  const path = `${temporaryFolder()}/a://b`;
  await using store = await openSqliteStore({ path });
  expect(await RepriseSaver.from(store).getTuple(thread)).toBe(undefined);
});
