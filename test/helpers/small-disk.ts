import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { onTestFinished } from "vitest";

import { temporaryFolder } from "./temp.ts";

const PAGE = 4096;
/** Tools of the system: without them, or the right to use them, there is no small disk to fill. */
const TOOLS = { unshare: "unshare", mount: "mount", unmount: "umount" };

/** False without the right to mount a tmpfs. */
export function mayMount(): boolean {
  return (
    spawnSync(TOOLS.unshare, ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0
  );
}

/** A separate disk with this little space. */
export function smallDisk(size: string): string {
  const place = join(temporaryFolder(), "disk");
  mkdirSync(place);
  const { status, stderr } = spawnSync(TOOLS.mount, [
    "-t",
    "tmpfs",
    "-o",
    `size=${size}`,
    "tmpfs",
    place,
  ]);
  if (status !== 0) {
    throw new Error(`mount failed: ${stderr.toString()}`);
  }
  onTestFinished(() => {
    spawnSync(TOOLS.unmount, ["--lazy", place]);
  });
  return place;
}

/** Takes all the space that is left, to the last page. */
export function fill(disk: string): void {
  for (let file = 0; ; file += 1) {
    try {
      writeFileSync(join(disk, `ballast-${file}`), Buffer.alloc(PAGE));
    } catch {
      return;
    }
  }
}

/** Gives back what `fill` took. */
export function makeRoom(disk: string): void {
  for (const file of readdirSync(disk).filter((name) => name.startsWith("ballast"))) {
    rmSync(join(disk, file));
  }
}
