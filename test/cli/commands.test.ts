import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { findFamily } from "../../src/workspace/commands/processes.ts";
import { OUTCOME_UNKNOWN } from "../../src/core/text/outcome-unknown.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { freshHome } from "../helpers/reprise.ts";
import { sessionsOf } from "../helpers/sessions/seed.ts";
import { openTerminal } from "../helpers/terminal.ts";

/** An agent that runs each message as a line, and then repeats the result. */
async function running() {
  const server = await startModelServer({
    answer: (messages) => {
      const { role, content = "" } = messages.at(-1) ?? { role: "" };
      const [, access = "sandbox", line = content] = /^(outside): (.*)$/s.exec(content) ?? [];
      const call = { name: "run_command", arguments: JSON.stringify({ line, access }) };
      return role === "user" ? { toolCalls: [call] } : { content: `it is: ${content}` };
    },
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  return { ...home, file: (path: string) => join(home.project, path) };
}

it("[COMMAND-30] -p shows the command and how it ended, and exit code 7 says how to allow one", async () => {
  const home = await running();
  const asked = await home.call(["-p", "echo one > made"]);
  expect(asked).toMatchObject({ code: 7, stdout: "" });
  expect(asked.stderr).toContain("May the agent run this command (run_command)?");
  expect(asked.stderr).toContain("  | echo one > made\n");
  expect(asked.stderr).toContain("--allow 'run_command(npm test)'");
  expect(existsSync(home.file("made"))).toBe(false);
  const id = (await sessionsOf(home))[0]?.id ?? "";
  expect(await home.call(["sessions", "answer", id, "allow once"])).toMatchObject({ code: 0 });
  const { stdout, stderr } = await home.call(["--session", id, "--continue-exchange"]);
  expect(stdout).toContain("it is: exit code 0 after");
  expect(stderr).toMatch(/^· exit code 0 after \d+\.\d s$/m);
  expect(readFileSync(home.file("made"), "utf8")).toBe("one\n");

  const allowed = await home.call(["-p", "printf 'a b' | wc -c", "--allow", "run_command(printf)"]);
  expect(allowed.code).toBe(7);
  const both = ["--allow", "run_command(printf)", "--allow", "run_command(wc -c)"];
  const done = await home.call(["-p", "printf 'a b' | wc -c", ...both]);
  expect(done.stderr).toContain("· run_command printf 'a b' | wc -c\n");
  expect(done.stdout).toMatch(/it is: exit code 0 after .* s\n\n\s*3\n/);
  const shown = await home.call(["sessions", "show", (await sessionsOf(home))[0]?.id ?? ""]);
  expect(shown.stdout).toContain("exit code 0 after");
});

it("[COMMAND-31] [COMMAND-15] a terminal shows the output as it comes; if it is killed, the command does not run again, and what it started ends", async () => {
  const home = await running();
  writeFileSync(
    home.file("run.sh"),
    "echo ran >> ran\nprintf '\\033[31mred\\n'\nsetsid sleep 1000 &\nsleep 1000\n",
  );
  const terminal = openTerminal(home, "exec reprise --permission all");
  await terminal.shows(/> $/);
  // what the next exchange ends: in the sandbox all ends with Reprise
  terminal.type("outside: sh run.sh\r");
  await terminal.shows(/· run_command sh run\.sh[^]* {2}\| ␛\[31mred/);
  terminal.kill("SIGKILL");
  await terminal.finished;
  const id = (await sessionsOf(home))[0]?.id ?? "";
  const family = { group: null, isMarked: (text: string) => text.includes(`,${id}:`) };
  expect((await findFamily(family)).length).toBeGreaterThanOrEqual(2);
  const { stdout } = await home.call(["--session", id, "--continue-exchange"]);
  expect(stdout).toContain(`it is: ${OUTCOME_UNKNOWN}`);
  expect(await findFamily(family)).toEqual([]);
  expect(readFileSync(home.file("ran"), "utf8")).toBe("ran\n");
});
