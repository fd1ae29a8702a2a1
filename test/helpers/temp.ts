import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { onTestFinished } from "vitest";

/** A fresh folder (its real path, 0700) that is removed when the running test is done. */
export function temporaryFolder(): string {
  const folder = makeFolder();
  onTestFinished(() => folder[Symbol.dispose]());
  return folder.path;
}

/** The same for hooks and for `using`: the caller disposes of it. */
export function makeFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(realpathSync(tmpdir()), "reprise-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Lets every user read a folder and start what is in it, with any umask: some tests run programs as another user. */
export function openToAll(folder: string): void {
  for (const name of [".", ...readdirSync(folder, { recursive: true, encoding: "utf8" })]) {
    const path = join(folder, name);
    const { mode } = statSync(path);
    chmodSync(path, (mode & 0o777) | ((mode & 0o500) >> 3) | ((mode & 0o500) >> 6));
  }
}
