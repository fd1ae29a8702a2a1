import { existsSync, readdirSync, readFileSync, writeFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, it } from "vitest";

import { createSandboxProbe } from "../../../src/workspace/sandbox/probe.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { freshHome } from "../../helpers/reprise.ts";

const { bubblewrap } = await createSandboxProbe()();
const MARK = "reprise-hook-sleeps";

/** Processes that have the mark in their command line. */
function sleeping(): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(MARK);
    } catch {
      return false;
    }
  });
}

const TITLE = "leaves no process, and the call runs once";

it.skipIf(bubblewrap === null)(
  `[HOOK-36] kill -9 in the middle of a hook in the sandbox ${TITLE}`,
  () => killInHook(true),
);

it(`[HOOK-36] kill -9 in the middle of a hook without a sandbox ${TITLE}`, () => killInHook(false));

async function killInHook(isConfined: boolean): Promise<void> {
  const server = await startModelServer({
    answer: (messages) =>
      messages.at(-1)?.role === "user"
        ? { toolCalls: [{ name: "run_command", arguments: '{"line":"echo x >>ran"}' }] }
        : { content: "done" },
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  const config = join(home.home, ".config/reprise/config.jsonc");
  mkdirSync(join(config, ".."), { recursive: true });
  const command = `touch begun; [ -e once ] || { touch once; sh -c 'sleep 600; : ${MARK}'; }`;
  const hook = { match: "Bash", command, sandbox: isConfined };
  writeFileSync(config, JSON.stringify({ hooks: { PreToolUse: [hook] } }), { mode: 0o600 });
  const args = ["-p", "go", "--permission", "all"];
  const running = home.start(args, { input: "" });
  while (!existsSync(join(home.project, "begun")) || sleeping().length === 0) {
    await sleep(20);
  }
  await running.stop("SIGKILL");
  if (isConfined) {
    while (sleeping().length > 0) {
      await sleep(20);
    }
  }
  const continued = await home.run(["--continue", "--continue-exchange"]);
  expect(continued).toMatchObject({ code: 0 });
  expect(sleeping()).toEqual([]);
  expect(readFileSync(join(home.project, "ran"), "utf8")).toBe("x\n");
}
