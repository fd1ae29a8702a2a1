import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { expect, it, onTestFinished } from "vitest";

import { type Running, startProcess } from "../helpers/process.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

it.each([
  ["npm start", "npm", ["start", "--"]],
  ["npx reprise serve", "npx", ["reprise", "serve"]],
] as const)(
  "[OPS-12] a service that %s started stops when npm is asked to stop",
  async (_name, command, args) => {
    const database = join(temporaryFolder(), "reprise.db");
    const options = ["--port", "0", "--log", "--database", database];
    const npm = startProcess(command, [...args, ...options], { cwd: ROOT });
    const [, url = ""] = await npm.waitFor(/^listening on (\S+)$/m);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    const pid = await servicePid(npm);
    onTestFinished(() => end(pid));

    npm.child.kill("SIGTERM");
    // its output ends with the last process that has it, which is the service
    const { stderr } = await npm.finished;

    expect(stderr).toContain('"event":"stopping"');
    expect(stderr).toMatch(/"event":"stopped","unfinished":false/);
    await expect(fetch(`${url}/livez`)).rejects.toThrow("fetch failed");
  },
);

async function servicePid(npm: Running): Promise<number> {
  const started = /^\{.*"event":"started".*$/m;
  while (!started.test(npm.stderr())) {
    await sleep(10);
  }
  const [line = "{}"] = started.exec(npm.stderr()) ?? [];
  return (JSON.parse(line) as { pid: number }).pid;
}

/** Ends a process that a failed test would leave behind. */
function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it is gone
  }
}
