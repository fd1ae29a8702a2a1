import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statfsSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { afterAll, describe, expect, it } from "vitest";

import { createTurns } from "../../../src/agent/sandbox/turns.ts";
import { sandboxHome } from "./run-confined.ts";

const MIB = 1024 * 1024;

const sandbox = await sandboxHome();
afterAll(() => sandbox[Symbol.dispose]());

describe.skipIf(sandbox.reason !== null)("limits of a command in the sandbox", () => {
  const { folder, home, state, run } = sandbox;
  const fill = `'${process.execPath}' -e 'const kept = []; for (;;) kept.push(Buffer.alloc(1 << 20, 1))'`;
  const forks = "while :; do sleep 100 & done";

  // with `groups: false` as on a machine that lets this process make no control groups
  it.each([{}, { groups: false }])("[SANDBOX-11] ends a fork bomb %j", async (how) => {
    const { ended, code } = await run(forks, { ...how, limits: { processes: 50 } });
    expect(ended).toContain("more than 50 processes");
    expect(code).not.toBe(0);
    expect(processesIn(folder)).toEqual([]);
  });

  it.each([{}, { groups: false }])(
    "[SANDBOX-12] ends what uses too much memory %j",
    async (how) => {
      const { ended } = await run(`setsid ${fill}`, { ...how, limits: { memory: 64 * MIB } });
      expect(ended).toContain("more than 64 MiB of memory");
      expect(processesIn(folder)).toEqual([]);
    },
  );

  it("[SANDBOX-13] refuses a file that is too large, in the folder and in the private folders", async () => {
    const { output, ended } = await run(
      `for at in . /tmp /var/tmp /dev/shm /run; do head -c 9000000 /dev/zero > $at/large; stat -c '%s' $at/large; done; truncate -s 9000000 holes; stat -c '%s' holes`,
      { limits: { file: MIB, temporary: MIB / 2, shared: MIB / 4 } },
    );
    const sizes = output
      .split("\n")
      .filter((line) => /^\d+$/.test(line))
      .map(Number);
    expect(sizes).toEqual([MIB, MIB / 2, MIB / 2, MIB / 4, MIB, 0]);
    expect(ended).toBeNull();
  });

  it("[SANDBOX-14] starts nothing if the disk of the folder has too little left", async () => {
    const { bavail, bsize } = statfsSync(folder);
    const free = bavail * bsize + 1024 * MIB;
    await expect(run("true", { limits: { free } })).rejects.toThrow(/not started.*MiB/);
  });

  it("[SANDBOX-14] ends a command that leaves too little on the disk", async () => {
    const { bavail, bsize } = statfsSync(folder);
    const { ended } = await run(`while :; do head -c ${8 * MIB} /dev/zero >> large; done`, {
      limits: { free: bavail * bsize - 128 * MIB },
    });
    expect(ended).toContain("the disk of the folder has less than");
    expect(statSync(join(folder, "large")).size).toBeGreaterThan(8 * MIB);
  });

  it("[SANDBOX-15] ends everything with bubblewrap, also what left the group and ignores signals", async () => {
    const line = `trap '' TERM; setsid sh -c "trap '' TERM HUP; while :; do sleep 100; done" & nohup sleep 100 & echo started; yes`;
    let isEnded = false;
    const { code } = await run(line, {
      onOutput: (pid, output) => {
        if (output.length > 100_000 && !isEnded) {
          isEnded = true;
          process.kill(-pid, "SIGTERM");
        }
      },
    });
    expect(code).not.toBe(0);
    expect(processesIn(folder)).toEqual([]);
  });

  it("[SANDBOX-16] ends with the process that started it, and moves out later what it left", async () => {
    mkdirSync(join(home, "other"));
    const parent = spawn(process.execPath, [PARENT, home, "other"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    for await (const _ of parent.stdout) {
      break;
    }
    expect(processesIn(join(home, "other"))).not.toEqual([]);
    const [kept] = runningFiles();
    await expect.poll(() => runningFiles().some(({ at }) => at > (kept?.at ?? 0))).toBe(true);
    parent.kill("SIGKILL");
    await new Promise((resolve) => parent.on("exit", resolve));
    await expect.poll(() => processesIn(join(home, "other"))).toEqual([]);
    expect(existsSync(join(home, "other/.envrc"))).toBe(true);
    const { notes } = await run("true");
    expect(existsSync(join(home, "other/.envrc"))).toBe(false);
    expect(notes.join()).toMatch(/interrupted.*\.envrc/);
    expect(readdirSync(join(state, "sandbox/running"))).toEqual([]);
  });

  it("[SANDBOX-16] leaves what is newer than an interrupted command, and names it", async () => {
    mkdirSync(join(home, "mine"));
    const parent = spawn(process.execPath, [PARENT, home, "mine"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    for await (const _ of parent.stdout) {
      break;
    }
    parent.kill("SIGKILL");
    await new Promise((resolve) => parent.on("exit", resolve));
    await expect.poll(() => processesIn(join(home, "mine"))).toEqual([]);
    // as if the command had been killed an hour before the file was made
    runningFiles().forEach(({ path, at }) => utimesSync(path, at / 1000, at / 1000 - 3600));
    const { notes } = await run("true");
    expect(existsSync(join(home, "mine/.envrc"))).toBe(true);
    expect(notes.join()).toMatch(/interrupted.*and not moved: \.envrc/);
    expect(runningFiles()).toEqual([]);
  });

  it("[SANDBOX-17] waits for its turn only until it is stopped, and the next one for those before", async () => {
    const turns = createTurns();
    const first = await turns("folder");
    const stop = new AbortController();
    const second = turns("folder", stop.signal);
    let isThird = false;
    const third = turns("folder").then(() => (isThird = true));
    stop.abort(new Error("stopped"));
    await expect(second).rejects.toThrow("stopped");
    await expect(turns("folder", stop.signal)).rejects.toThrow("stopped");
    expect(isThird).toBe(false);
    first();
    await third;
  });

  it("[SANDBOX-17] waits for those in folders above and below, and for no others", async () => {
    const turns = createTurns();
    const order: string[] = [];
    const take = async (name: string) => {
      const release = await turns(name);
      order.push(name);
      return release;
    };
    const inner = await take("/a/b");
    const beside = await take("/a/bc");
    const [outer, innermost] = [take("/a"), take("/a/b/c")];
    beside();
    await setImmediate();
    expect(order).toEqual(["/a/b", "/a/bc"]);
    inner();
    (await outer)();
    (await innermost)();
    expect(order).toEqual(["/a/b", "/a/bc", "/a", "/a/b/c"]);
  });

  it("[SANDBOX-17] runs commands in one folder one after the other", async () => {
    writeFileSync(join(folder, "order"), "");
    const line = "echo begins >> order; sleep 0.05; echo ends >> order";
    await Promise.all([run(line), run(line), run(line)]);
    const lines = readFileSync(join(folder, "order"), "utf8").trim().split("\n");
    expect(lines).toEqual(["begins", "ends", "begins", "ends", "begins", "ends"]);
  });
});

function runningFiles() {
  const running = join(sandbox.state, "sandbox/running");
  return readdirSync(running).map((name) => {
    const path = join(running, name);
    return { path, at: statSync(path).mtimeMs };
  });
}

const PARENT = fileURLToPath(new URL("../../fixtures/programs/sandbox-parent.ts", import.meta.url));

/** Those whose working folder is the one given, as the machine names it. */
function processesIn(folder: string): string[] {
  return readdirSync("/proc").filter((id) => {
    try {
      return (
        /^\d+$/.test(id) &&
        readFileSync(`/proc/${id}/environ`, "utf8").includes(`SANDBOX_TEST=${folder}\0`)
      );
    } catch {
      return false;
    }
  });
}
