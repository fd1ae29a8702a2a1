import { existsSync } from "node:fs";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { type ModelAnswer, startModelServer } from "../helpers/model-server.ts";
import { startProcess } from "../helpers/process.ts";
import { freshHome } from "../helpers/reprise.ts";

/** The folder with acpx 0.19.1 in `node_modules`; it brings 65 packages, so it is not a dependency: see CONTRIBUTING.md. */
const INSTALLED = process.env["REPRISE_TEST_ACPX"];
const ACPX = join(INSTALLED ?? "", "node_modules/acpx/dist/cli.js");

/** A client that nobody here wrote: a process for each command, and one that keeps the agent for a second. */
async function acpx(answer: (index: number) => ModelAnswer, latencyMs = 0) {
  const server = await startModelServer({
    answer: (_, index) => answer(index),
    latencyMs,
    chunkSize: 4,
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  const start = (...args: string[]) =>
    startProcess(process.execPath, [ACPX, "--ttl", "1", "--agent", "reprise acp", ...args], {
      cwd: home.project,
      env: home.environment(),
      input: "",
    });
  const run = async (...args: string[]) => (await start(...args).finished).stdout;
  onTestFinished(async () => void (await run("sessions", "close")));
  /** Sends a prompt again that meets the end of the process that kept the agent. */
  const prompt = async (text: string, ...options: string[]): Promise<string> => {
    const printed = await run(...options, "prompt", text);
    return printed.includes("shutting down") ? prompt(text, ...options) : printed;
  };
  return { home, server, start, run, prompt };
}

it.skipIf(INSTALLED === undefined)(
  "[ACP-60] acpx begins a session, and other processes continue and list it",
  async () => {
    const { home, server, run, prompt } = await acpx((index) => ({ content: `answer ${index}` }));
    const created = await run("sessions", "new");
    const [id = ""] = /[0-9a-f-]{36}/.exec(created) ?? [];
    expect(await prompt("first")).toMatch(/answer 0[^]*\[done\] end_turn/);
    // the process that kept the agent is gone after a second: the next one resumes
    expect(await prompt("second")).toMatch(/answer 1[^]*\[done\] end_turn/);
    expect(server.requests()[1]?.map(({ content }) => content)).toContain("answer 0");
    const [session] = await home.json<{ id: string; title: string }[]>([
      "sessions",
      "list",
      "--json",
    ]);
    expect(session).toMatchObject({ id, title: "first" });
    expect(await run("sessions", "list")).toContain(id);
  },
);

it.skipIf(INSTALLED === undefined)("[ACP-60] acpx allows, denies and cancels", async () => {
  const { home, start, run, prompt } = await acpx(
    (index) =>
      index % 2 === 0 && index < 4
        ? {
            toolCalls: [
              {
                name: "write_file",
                arguments: JSON.stringify({ path: `${index}.txt`, content: "x" }),
                id: `c${index}`,
              },
            ],
          }
        : { content: index < 4 ? "done" : "word ".repeat(6000) },
    20,
  );
  await run("sessions", "new");
  await prompt("write", "--approve-all");
  expect(existsSync(join(home.project, "0.txt"))).toBe(true);
  await run("sessions", "new");
  await prompt("write", "--deny-all");
  expect(existsSync(join(home.project, "2.txt"))).toBe(false);
  const begun = async (): Promise<ReturnType<typeof start>> => {
    const long = start("prompt", "long");
    const [found] = await long.waitFor(/word word|shutting down/);
    return found === "shutting down" ? begun() : long;
  };
  const long = await begun();
  await run("cancel");
  const { stdout } = await long.finished;
  expect(stdout).toContain("cancelled");
});
