import { existsSync, statSync } from "node:fs";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import { createWaitingLine } from "../../../src/store/engines/sqlite/waiting-line.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

it("[STORE-29] a write is not refused while other processes keep committing", async () => {
  const path = join(temporaryFolder(), "reprise.db");
  const store = await openSqliteStore({ path, busyTimeoutMs: 500 });
  onTestFinished(() => store.close());
  const { id } = await store.write(createSession, {});
  const other = startProgram("store-commit-often.ts", [path, "20", "100"]);
  await other.waitFor(/locked/);

  const { message } = await store.write(appendUserMessage, { reference: id, content: "hi" });

  expect(message.seq).toBe(1);
});

it("[STORE-39] a writer that waits announces itself beside the file, and only as long as it waits", async () => {
  const path = join(temporaryFolder(), "reprise.db");
  const store = await openSqliteStore({ path });
  onTestFinished(() => store.close());
  const { id } = await store.write(createSession, {});
  expect(existsSync(`${path}-waiting`)).toBe(false);
  const lock = startProgram("store-lock.ts", [path]);
  await lock.waitFor(/locked/);

  const appended = store.write(appendUserMessage, { reference: id, content: "hi" });
  while (!existsSync(`${path}-waiting`)) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  expect(statSync(`${path}-waiting`)).toMatchObject({ size: 0 });
  expect(statSync(`${path}-waiting`).mode & 0o777).toBe(0o600);
  lock.child.stdin?.write("release\n");

  expect((await appended).message.seq).toBe(1);
  expect(existsSync(`${path}-waiting`)).toBe(false);
});

it("[STORE-39] the writer that has waited longest goes first", () => {
  const now = 1_000_000;
  const database = join(temporaryFolder(), "reprise.db");
  const [older, younger] = [1, 2].map(() => createWaitingLine(database, () => now));

  older?.announce(now - 100);
  expect(younger?.isMyTurn(now - 50)).toBe(false);
  expect(younger?.isMyTurn(now)).toBe(false);
  expect(older?.isMyTurn(now - 100)).toBe(true);
  // one that has waited even longer
  expect(younger?.isMyTurn(now - 200)).toBe(true);

  younger?.withdraw(now - 50);
  expect(younger?.isMyTurn(now - 50)).toBe(false);
  older?.withdraw(now - 100);
  expect(younger?.isMyTurn(now - 50)).toBe(true);
});

it("[STORE-39] [STORE-75] a writer that is gone, and a clock that was set, block nobody", () => {
  let now = 1_000_000;
  const database = join(temporaryFolder(), "reprise.db");
  const [gone, waiting] = [1, 2].map(() => createWaitingLine(database, () => now));
  gone?.announce(now - 100);

  now += 250;
  expect(waiting?.isMyTurn(now)).toBe(false);
  now += 1;
  expect(waiting?.isMyTurn(now)).toBe(true);
  now -= 3_600_000;
  expect(waiting?.isMyTurn(now + 1)).toBe(true);
});

it("[STORE-39] a writer keeps its turn for several transactions, and then gives it up", () => {
  let now = 1_000_000;
  const database = join(temporaryFolder(), "reprise.db");
  const [holder, waiting] = [1, 2].map(() => createWaitingLine(database, () => now));
  waiting?.announce(now - 100);

  holder?.taken();
  now += 49;
  holder?.taken();
  expect(holder?.isMyTurn(now)).toBe(true);
  now += 1;
  expect(holder?.isMyTurn(now)).toBe(false);
});
