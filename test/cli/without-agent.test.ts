import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

import type { Called } from "../helpers/call-program.ts";
import { startProcess } from "../helpers/process.ts";
import { freshHome } from "../helpers/reprise.ts";
import { sessionsOf } from "../helpers/sessions/seed.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const SOURCES = fileURLToPath(new URL("../../bin/reprise.js", import.meta.url));
const PROGRAMS = new URL("../fixtures/programs/", import.meta.url);
const PRELOAD = fileURLToPath(new URL("loaded-modules.ts", PROGRAMS));
const CALL_COMMANDS = fileURLToPath(new URL("call-commands.ts", PROGRAMS));
const AGENT = /\/(@langchain|langchain|langsmith)\/|\/src\/(agent|langgraph)\//;

it("only a message loads the agent's modules: no command on sessions, serve and doctor do", async () => {
  const home = freshHome();
  const start = (program: string, args: readonly string[]) =>
    startProcess(process.execPath, ["--import", PRELOAD, program, ...args], {
      cwd: home.project,
      env: home.environment(),
      input: "",
    });
  const agentOf = (stderr: string): string[] => {
    const urls = stderr.split("\n").filter((line) => line.startsWith("file:"));
    expect(urls.length).toBeGreaterThan(20);
    return urls.filter((url) => AGENT.test(url));
  };
  const answered = await start(SOURCES, ["-p", "hello"]).finished;
  expect(agentOf(answered.stderr)).not.toEqual([]);

  const serving = start(SOURCES, ["serve", "--port", "0"]);
  await serving.waitFor(/listening on/);
  const served = await serving.stop("SIGTERM");
  expect({ code: served.code, agent: agentOf(served.stderr) }).toEqual({ code: 0, agent: [] });

  const [{ id } = { id: "" }] = await sessionsOf(home);
  const file = join(temporaryFolder(), "session.json");
  writeFileSync(file, (await home.call(["sessions", "export", id])).stdout);
  const target = join(temporaryFolder(), "copy.db");
  const commands = [
    ["sessions", "list"],
    ["sessions", "show", id],
    ["doctor"],
    ["--session", id, "--model", "demo:other"],
    ["sessions", "export", id],
    ["sessions", "import", file, "--new-ids"],
    ["sessions", "verify"],
    ["sessions", "repair", id],
    ["copy", "--from", home.database, "--to", target],
  ].map((args) => JSON.stringify(args));
  const { code, stdout, stderr } = await start(CALL_COMMANDS, commands).finished;
  expect({ code, agent: agentOf(stderr) }, stderr).toEqual({ code: 0, agent: [] });
  const results = JSON.parse(stdout) as readonly Called[];
  expect(results.map((result) => result.code)).toEqual(commands.map(() => 0));
});

it("plan commands load the validator and the YAML reader only to validate", async () => {
  const home = freshHome();
  const loaded = async (...args: string[]): Promise<string> => {
    const { cwd, env } = { cwd: home.project, env: home.environment() };
    const program = startProcess(process.execPath, ["--import", PRELOAD, SOURCES, ...args], {
      cwd,
      env,
      input: "",
    });
    return (await program.finished).stderr;
  };
  const plan = join(temporaryFolder(), "plan.json");
  writeFileSync(plan, "{}");
  const heavy = /node_modules\/(ajv|ajv-formats|yaml)\//;
  expect(await loaded("plan", "new")).not.toMatch(heavy);
  expect(await loaded("plan", "--help")).not.toMatch(heavy);
  expect(await loaded("schema", "dev/phase-plan@1")).not.toMatch(heavy);
  expect(await loaded("plan", "validate", plan)).toMatch(heavy);
});
