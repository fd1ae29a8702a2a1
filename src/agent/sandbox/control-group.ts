import { mkdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { SandboxLimits } from "../../workspace/sandbox/policy.ts";

/** A control group of the kernel, with limits on everything that a command starts. */
export interface ControlGroup {
  readonly folders: readonly string[];
  /** A process that writes 0 to each of these files enters the group. */
  readonly files: readonly string[];
  /** The limit that something in it was refused by; null if none was. */
  exceeded(): Promise<"processes" | "memory" | null>;
  /** Ends what is in it. */
  kill(): Promise<void>;
}

interface Place {
  readonly folder: string;
  /** What is limited in it. */
  readonly controls: readonly ("pids" | "memory")[];
  readonly version: 1 | 2;
}

/** Makes a group for one command; null if this process may make none. */
export async function makeControlGroup(
  name: string,
  limits: Pick<SandboxLimits, "processes" | "memory">,
): Promise<ControlGroup | null> {
  const made: Place[] = [];
  for (const place of await places()) {
    if (made.some(({ controls }) => place.controls.every((one) => controls.includes(one)))) {
      continue;
    }
    const group = { ...place, folder: join(place.folder, name) };
    if (await make(group, limits)) {
      made.push(group);
    }
  }
  const controls = new Set(made.flatMap((each) => each.controls));
  if (controls.size < 2) {
    await Promise.all(made.map(({ folder }) => removeGroup(folder)));
    return null;
  }
  return groupOf(made);
}

/** Folders in which this process may be able to make groups, the best first. */
async function places(): Promise<Place[]> {
  const [mounts, own] = await Promise.all(
    ["/proc/self/mounts", "/proc/self/cgroup"].map((path) =>
      readFile(path, "utf8").catch(() => ""),
    ),
  );
  const groups = (own ?? "").split("\n").map((line) => line.split(":"));
  const found = (mounts ?? "").split("\n").map(async (line): Promise<Place[]> => {
    const [, mount = "", type, options = ""] = line.split(" ");
    if (type === "cgroup") {
      return (["pids", "memory"] as const)
        .filter((control) => options.split(",").includes(control))
        .flatMap((control) => {
          const path = groups.find(([, names = ""]) => names.split(",").includes(control))?.[2];
          return path === undefined
            ? []
            : [{ folder: join(mount, path), controls: [control], version: 1 as const }];
        });
    }
    const path = groups.find(([id, names]) => id === "0" && names === "")?.[2];
    return type === "cgroup2" && path !== undefined ? inUnified(mount, path) : [];
  });
  return (await Promise.all(found)).flat();
}

/** A group with processes has none below it that are limited, but one beside it can be. */
async function inUnified(mount: string, path: string): Promise<Place[]> {
  const beside = path === "/" ? [] : [dirname(path)];
  const places = [path, ...beside].map(async (each): Promise<Place[]> => {
    const folder = join(mount, each);
    const file = join(folder, "cgroup.subtree_control");
    const given = (await readFile(file, "utf8").catch(() => "")).trim().split(" ");
    const controls = (["pids", "memory"] as const).filter((one) => given.includes(one));
    return controls.length === 2 ? [{ folder, controls, version: 2 }] : [];
  });
  return (await Promise.all(places)).flat();
}

async function make(
  { folder, controls, version }: Place,
  { processes, memory }: Pick<SandboxLimits, "processes" | "memory">,
): Promise<boolean> {
  const write = (file: string, value: number) => writeFile(join(folder, file), String(value));
  try {
    await mkdir(folder);
    if (controls.includes("pids")) {
      await write("pids.max", processes);
    }
    if (controls.includes("memory")) {
      await write(version === 1 ? "memory.limit_in_bytes" : "memory.max", memory);
      // without swap these files are missing
      await (
        version === 1 ? write("memory.memsw.limit_in_bytes", memory) : write("memory.swap.max", 0)
      ).catch(() => undefined);
    }
    return true;
  } catch {
    await removeGroup(folder);
    return false;
  }
}

function groupOf(made: readonly Place[]): ControlGroup {
  const files = made.map(({ folder }) => join(folder, "cgroup.procs"));
  const counted = async (control: Place["controls"][number], line: string, files: string[]) => {
    const { folder = "" } = made.find(({ controls }) => controls.includes(control)) ?? {};
    const texts = files.map((file) => readFile(join(folder, file), "utf8").catch(() => ""));
    return (await Promise.all(texts)).some((text) =>
      text.split("\n").some((each) => each.startsWith(`${line} `) && !each.endsWith(" 0")),
    );
  };
  return {
    folders: made.map(({ folder }) => folder),
    files,
    exceeded: async () => {
      if (await counted("pids", "max", ["pids.events"])) {
        return "processes";
      }
      return (await counted("memory", "oom_kill", ["memory.events", "memory.oom_control"]))
        ? "memory"
        : null;
    },
    kill: async () => {
      for (const file of files) {
        const members = await readFile(file, "utf8").catch(() => "");
        members
          .split("\n")
          .filter(Boolean)
          .forEach((id) => endProcess(Number(id)));
      }
    },
  };
}

function endProcess(id: number): void {
  try {
    process.kill(id, "SIGKILL");
  } catch {
    // it ended by itself
  }
}

/** The kernel lets a group go a little after the last process in it has ended. */
export async function removeGroup(folder: string): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const isGone = await rmdir(folder).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== "EBUSY",
    );
    if (isGone) {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
