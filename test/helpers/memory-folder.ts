import { readFileSync, statfsSync } from "node:fs";

const FOLDER = "/dev/shm";
const ENOUGH_BYTES = 2 * 1024 ** 3;

/**
 * A folder in memory for the files of the tests, or null if there is none with enough space from
 * which programs may be started. Most of the time of a test that opens a database goes to the disk.
 */
export function memoryFolder(): string | null {
  try {
    const { bavail, bsize } = statfsSync(FOLDER);
    const [, , type, options = ""] =
      readFileSync("/proc/mounts", "utf8")
        .split("\n")
        .map((line) => line.split(" "))
        .findLast(([, mountedOn]) => mountedOn === FOLDER) ?? [];
    const fits = type === "tmpfs" && bavail * bsize >= ENOUGH_BYTES;
    return fits && !options.split(",").includes("noexec") ? FOLDER : null;
  } catch {
    return null;
  }
}
