import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import {
  type CommandRequest,
  type CommandOptions,
  createCommands,
} from "../../../src/agent/commands/commands.ts";
import { commandEnvironment } from "../../../src/workspace/commands/environment.ts";
import { createKeptOutput } from "../../../src/agent/commands/kept-output.ts";
import type { Command } from "../../../src/agent/commands/launch.ts";
import {
  endFamily,
  familyOf,
  findFamily,
  processesOfPs,
} from "../../../src/workspace/commands/processes.ts";
import { newId } from "../../../src/core/ids.ts";
import { createConceal } from "../../../src/core/secrets.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const conceal = createConceal([{ name: "TEST_KEY", value: "sk-canary-0123456789" }]);
const HAS_PS = spawnSync("ps").status === 0;
const shell = (line: string): Command => ({ kind: "line", line });

function openCommands(options: Partial<CommandOptions> = {}, session_id = newId()) {
  const cwd = temporaryFolder();
  const outputFolder = join(temporaryFolder(), "state", "commands");
  const env = { PATH: process.env["PATH"], HOME: cwd };
  const commands = createCommands({ env, outputFolder, ...options }, { session_id, conceal });
  let live = "";
  return {
    ...commands,
    cwd,
    outputFolder,
    live: () => live,
    file: (name: string) => join(cwd, name),
    run: (command: Command, request: Partial<CommandRequest> = {}) =>
      commands.run({
        command,
        cwd,
        timeoutMs: 60_000,
        signal: undefined,
        onText: (text) => (live += text),
        ...request,
      }),
  };
}

/** True while a process has this number. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // one that nobody waits for has ended
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

const pidIn = (file: string): number => Number(readFileSync(file, "utf8"));

describe("a command", () => {
  it("[COMMAND-10] has its arguments as they are, both outputs in their order, and its exit code", async () => {
    const box = openCommands();
    const argv = ["printf", "[%s]", "a b", "$HOME", "", "*", "it's", "-n", "line\nnext"];
    expect(await box.run({ kind: "argv", argv })).toMatchObject({
      code: 0,
      signal: null,
      ended: null,
      leftRunning: 0,
      name: null,
      output: { head: "[a b][$HOME][][*][it's][-n][line\nnext]", left: null },
    });
    const mixed = await box.run(shell("echo 1; echo 2 >&2; echo 3; echo 4 >&2; exit 3"));
    expect(mixed).toMatchObject({ code: 3, output: { head: "1\n2\n3\n4\n" } });
    expect(await box.run(shell("kill -SEGV $$"))).toMatchObject({ code: null, signal: "SIGSEGV" });
    const missing = await box.run({ kind: "argv", argv: ["no-such-program"] });
    expect(missing).toMatchObject({ code: 127 });
    expect(missing.output.head).toContain("not found");
    expect((await box.run(shell("-x"))).code).toBe(127);
  });

  it("[COMMAND-10] has no terminal, no input, a separate session of processes, and a clean environment", async () => {
    const env = {
      PATH: `.:bin::${process.env["PATH"] ?? ""}`,
      HOME: "/home/of/nobody",
      LC_ALL: "C.UTF-8",
      TERM: "xterm",
      EXTRA: "given by name",
      OPENAI_API_KEY: "sk-other",
      REPRISE_TOKEN: "t",
      SSH_AUTH_SOCK: "/run/x",
      NODE_OPTIONS: "--inspect",
      LD_PRELOAD: "/x.so",
      GIT_DIR: "/x",
      GOPATH: "sk-canary-0123456789",
      AWS_SECRET_ACCESS_KEY: "x",
      LC_TOKEN: "x",
    };
    const names = ["EXTRA", "REPRISE_TOKEN"];
    expect(commandEnvironment(env, { names, conceal })).toEqual({
      PATH: process.env["PATH"],
      HOME: "/home/of/nobody",
      LC_ALL: "C.UTF-8",
      TERM: "dumb",
      PAGER: "cat",
      GIT_TERMINAL_PROMPT: "0",
      EXTRA: "given by name",
    });
    const box = openCommands({ env, environment: names });
    const line =
      "env; cat; (echo x > /dev/tty) 2>&1; [ \"$(cut -d ' ' -f 6 /proc/$$/stat)\" = $$ ] && echo leads";
    const { output } = await box.run(shell(line));
    expect(output.head).toContain("EXTRA=given by name\n");
    expect(output.head).not.toMatch(/API_KEY|TOKEN|SOCK|NODE_OPTIONS|LD_|GIT_DIR|canary/);
    expect(output.head).toMatch(/\/dev\/tty.*\nleads\n$/);
  });

  it("[COMMAND-11] that takes too long is ended with all that it has started", async () => {
    const box = openCommands();
    // one ignores SIGTERM, one has left the session and holds the output
    const line =
      "(trap '' TERM; echo $$ > stubborn; sleep 1000) & setsid sleep 1000 & echo $! > left; echo started; sleep 1000";
    // a loaded machine needs some of it until the shell has begun
    const timeoutMs = 3000;
    const end = await box.run(shell(line), { timeoutMs });
    expect(end).toMatchObject({ ended: "time_out", code: null, output: { head: "started\n" } });
    expect(end.durationMs).toBeGreaterThanOrEqual(timeoutMs);
    expect(isAlive(pidIn(box.file("left")))).toBe(false);
    expect(await findFamily({ group: null, isMarked: (text) => text.includes(box.cwd) })).toEqual(
      [],
    );
  });

  it("[COMMAND-11] leaves nothing running when it ends by itself", async () => {
    const box = openCommands();
    const line = `setsid sh -c 'echo $$ > left; exec sleep 1000' & env -i sleep 1000 & while [ ! -s left ]; do sleep 0.01; done; echo ends`;
    const end = await box.run(shell(line));
    expect(end).toMatchObject({ code: 0, ended: null, output: { head: "ends\n" } });
    expect(end.leftRunning).toBeGreaterThanOrEqual(2);
    expect(isAlive(pidIn(box.file("left")))).toBe(false);
  });

  it("[COMMAND-11] leaves bubblewrap itself out of what it left running", async () => {
    const box = openCommands();
    const line =
      'cp "$(command -v sleep)" bwrap; setsid ./bwrap 1000 & echo $! > left; until grep -qx bwrap "/proc/$!/comm"; do sleep 0.01; done';
    const end = await box.run(shell(line));
    expect(end).toMatchObject({ code: 0, leftRunning: 0 });
    expect(isAlive(pidIn(box.file("left")))).toBe(false);
  });

  it("[COMMAND-11] is ended when the exchange stops, and no other one begins", async () => {
    const box = openCommands();
    const stop = new AbortController();
    const line = "setsid sleep 1000 & echo $! > left; echo started; sleep 1000";
    const running = box.run(shell(line), { signal: stop.signal });
    const other = box.run(shell("echo started; sleep 1000"));
    await expect.poll(box.live).toBe("started\nstarted\n");
    stop.abort();
    expect(await running).toMatchObject({ ended: "stopped", code: null });
    expect(isAlive(pidIn(box.file("left")))).toBe(false);
    await box.end();
    expect(await other).toMatchObject({ ended: "stopped" });
    expect(() => box.run(shell("true"))).toThrow("aborted");
  });

  it("[COMMAND-11] rejects if its folder is gone", async () => {
    const box = openCommands();
    await expect(box.run(shell("true"), { cwd: box.file("none") })).rejects.toThrow("ENOENT");
  });
});

describe("the output of a command", () => {
  it("[COMMAND-12] is shown with its beginning and its end, and kept whole", async () => {
    const box = openCommands();
    const end = await box.run(shell("seq 20000"));
    const all = Array.from({ length: 20_000 }, (_, at) => `${at + 1}\n`).join("");
    const { head, left, tail } = end.output;
    expect([all.startsWith(head), all.endsWith(tail), head.length, tail.length]).toEqual([
      true,
      true,
      8192,
      24_576,
    ]);
    expect(left).toBe(all.length - 8192 - 24_576);
    expect(end.bytes).toBe(all.length);
    expect(box.live()).toBe(all);
    await using file = (await box.spool?.open(end.name ?? "")) ?? null;
    expect(await file?.readFile("utf8")).toBe(all);
    const [name = ""] = readdirSync(box.outputFolder);
    expect(statSync(join(box.outputFolder, name)).mode & 0o777).toBe(0o600);
    expect(statSync(box.outputFolder).mode & 0o777).toBe(0o700);
  });

  it("[COMMAND-12] is kept for a week, and opened in its session only", async () => {
    const box = openCommands();
    const long = shell("head -c 40000 /dev/zero | tr '\\0' x");
    const { name } = await box.run(long);
    const other = createCommands(
      { env: {}, outputFolder: box.outputFolder },
      { session_id: newId(), conceal },
    );
    for (const wrong of [name ?? "", "command-output:../../x", "command-output:", "/etc/passwd"]) {
      expect(await other.spool?.open(wrong)).toBeNull();
    }
    const [file = ""] = readdirSync(box.outputFolder);
    const old = new Date(Date.now() - 8 * 24 * 60 * 60 * 1000);
    utimesSync(join(box.outputFolder, file), old, old);
    await box.run(long);
    expect(readdirSync(box.outputFolder)).toHaveLength(1);
    expect(await box.spool?.open(name ?? "")).toBeNull();
  });

  it("[COMMAND-12] that cannot be kept is shown all the same", async () => {
    const blocked = join(temporaryFolder(), "file");
    writeFileSync(blocked, "");
    const box = openCommands({ outputFolder: blocked });
    const end = await box.run(shell("head -c 40000 /dev/zero | tr '\\0' x"));
    expect(end).toMatchObject({ code: 0, bytes: 40_000, name: null });
  });

  it("[COMMAND-13] without an end is bounded, and so is one line", async () => {
    const box = openCommands({ outputFolder: null, maxOutputBytes: 2 ** 20 });
    const end = await box.run(shell("yes | tr -d '\\n'"), { onText: () => undefined });
    expect(end).toMatchObject({ ended: "output_limit", bytes: 2 ** 20, name: null });
    expect(end.output.head.length + end.output.tail.length).toBe(32 * 1024);
  });

  it("[COMMAND-13] may be of any bytes", async () => {
    const box = openCommands();
    const { output } = await box.run(
      shell(`printf 'a\\303'; sleep 0.05; printf '\\251 \\377\\000b'`),
    );
    expect(output.head).toBe("aé \u{FFFD}\0b");
    expect(box.live()).toBe("aé \u{FFFD}\0b");
    const kept = createKeptOutput({ head: 4, tail: 4 });
    for (const byte of Buffer.from("ééé日日日é")) {
      kept.push(Buffer.from([byte]));
    }
    expect(kept.text()).toEqual({ head: "éé", left: 9, tail: "é" });
  });

  it("[COMMAND-14] shows no secret of Reprise while it comes", async () => {
    const box = openCommands();
    await box.run(shell("printf sk-canary-; sleep 0.05; echo 0123456789"));
    expect(box.live()).toBe("[TEST_KEY]\n");
  });
});

describe("processes that a killed Reprise left running", () => {
  it("[COMMAND-15] are ended by the next exchange of the session, and no others", async () => {
    const session_id = newId();
    const box = openCommands({}, session_id);
    const start = (owner: string, pid: number) =>
      spawn("sleep", ["1000"], {
        detached: true,
        stdio: "ignore",
        env: { ...process.env, REPRISE_COMMAND: `,${owner}:${pid}:${newId()}:${newId()}` },
      });
    const ended = spawn("true");
    await new Promise((resolve) => ended.once("exit", resolve));
    const gone = ended.pid ?? 0;
    const [left, ofOther, ofLiving] = [
      start(session_id, gone),
      start(newId(), gone),
      start(session_id, process.ppid),
    ];
    try {
      const exit = new Promise((resolve) => left.once("exit", (_, signal) => resolve(signal)));
      await box.endLeftRunning();
      expect(await exit).toBe("SIGTERM");
      expect([ofOther, ofLiving].map(({ pid = 0 }) => isAlive(pid))).toEqual([true, true]);
    } finally {
      ofOther.kill("SIGKILL");
      ofLiving.kill("SIGKILL");
      left.kill("SIGKILL");
    }
  });

  it("[COMMAND-15] are found by their parents too", () => {
    const row = (pid: number, parent: number, group: number, environment = "") => ({
      pid,
      parent,
      group,
      environment,
    });
    const rows = [row(1, 0, 1), row(9, 8, 9), row(8, 7, 8), row(7, 1, 7, "MARK"), row(6, 1, 5)];
    const family = { group: 5, isMarked: (text: string) => text.includes("MARK") };
    expect(familyOf(rows, family)).toEqual([7, 6, 8, 9]);
    expect(familyOf(rows, { ...family, group: null })).toEqual([7, 8, 9]);
  });

  it.runIf(HAS_PS)("[COMMAND-15] are found by ps on systems without /proc", async () => {
    const mark = newId();
    const child = spawn("sleep", ["1000"], {
      env: { ...process.env, MARK: mark },
      stdio: "ignore",
    });
    try {
      await new Promise((resolve) => child.once("spawn", resolve));
      await expect
        .poll(async () =>
          familyOf(await processesOfPs(), {
            group: null,
            isMarked: (text) => text.includes(`MARK=${mark}`),
          }),
        )
        .toEqual([child.pid]);
    } finally {
      child.kill("SIGKILL");
    }
  });

  it("[COMMAND-15] are none for a family that nobody belongs to", async () => {
    expect(await endFamily({ group: null, isMarked: () => false })).toBe(0);
    expect(existsSync("/proc/self")).toBe(process.platform === "linux");
  });
});
