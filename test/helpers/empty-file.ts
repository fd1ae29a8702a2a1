import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import { makeFolder } from "./temp.ts";

/** For all tests of a process. */
let template: Promise<Buffer> | null = null;

/** Makes the SQLite file with empty tables if it does not exist: to make tables costs ten times as much. */
export async function makeEmptyFile(path: string): Promise<void> {
  (await emptyFileMaker())(path);
}

/** The same for who cannot wait each time. */
export async function emptyFileMaker(): Promise<(path: string) => void> {
  template ??= readTemplate();
  const bytes = await template;
  return (path) => {
    if (!existsSync(path)) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(path, bytes, { mode: 0o600 });
    }
  };
}

async function readTemplate(): Promise<Buffer> {
  using folder = makeFolder();
  const path = join(folder.path, "template.db");
  await (await openSqliteStore({ path })).close();
  return readFileSync(path);
}
