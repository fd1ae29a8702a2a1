import { chmodSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { checkFiles } from "../../../src/store/engines/sqlite/check-file.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

it("[DOCTOR-5] [DOCTOR-10] warns if less space is free than the database needs once more", () => {
  const path = join(temporaryFolder(), "reprise.db");
  writeFileSync(path, "", { mode: 0o600 });
  const statusOf = (): unknown => checkFiles(path).find(({ name }) => name === "disk")?.status;
  expect(statusOf()).toBe("ok");
  // a sparse file: large, but without a block on the disk
  truncateSync(path, 8 * 1024 ** 4);
  expect(statusOf()).toBe("warning");
});

it("[DOCTOR-5] warns if others may read the database, its other files, or its folder", () => {
  const folder = join(temporaryFolder(), "data");
  mkdirSync(folder, { mode: 0o700 });
  const path = join(folder, "reprise.db");
  const modes = (): unknown => checkFiles(path).find(({ name }) => name === "modes");
  for (const name of [path, `${path}-wal`, `${path}-shm`]) {
    writeFileSync(name, "", { mode: 0o600 });
    expect(modes()).toMatchObject({ status: "ok" });
    chmodSync(name, 0o640);
    expect(modes()).toMatchObject({ status: "warning", sentence: expect.stringContaining("640") });
    chmodSync(name, 0o600);
  }
  chmodSync(folder, 0o755);
  expect(modes()).toMatchObject({ status: "warning", sentence: expect.stringContaining("folder") });
  // a file is named first
  chmodSync(path, 0o644);
  expect(modes()).toMatchObject({ status: "warning", sentence: expect.stringContaining("644") });
});
