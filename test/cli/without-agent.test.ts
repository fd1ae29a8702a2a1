import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

import { startProcess } from "../helpers/process.ts";
import { freshHome } from "../helpers/reprise.ts";
import { sessionsOf } from "../helpers/sessions/seed.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const SOURCES = fileURLToPath(new URL("../../bin/reprise.js", import.meta.url));
const PRELOAD = fileURLToPath(new URL("../fixtures/programs/loaded-modules.ts", import.meta.url));
const AGENT = /\/(@langchain|langchain|langsmith)\/|\/src\/(agent|langgraph)\//;

it("only a message loads the agent's modules: no command on sessions, serve and doctor do", async () => {
  const home = freshHome();
  const file = join(temporaryFolder(), "session.json");
  const loadedBy = async (...args: string[]): Promise<{ code: number | null; agent: string[] }> => {
    const started = startProcess(process.execPath, ["--import", PRELOAD, SOURCES, ...args], {
      cwd: home.project,
      env: home.environment(),
      input: "",
    });
    if (args[0] === "serve") {
      await started.waitFor(/listening on/);
      started.child.kill("SIGTERM");
    }
    const { code, stdout, stderr } = await started.finished;
    if (args.includes("export")) {
      writeFileSync(file, stdout);
    }
    const urls = stderr.split("\n").filter((line) => line.startsWith("file:"));
    expect(urls.length).toBeGreaterThan(20);
    return { code, agent: urls.filter((url) => AGENT.test(url)) };
  };
  expect((await loadedBy("-p", "hello")).agent).not.toEqual([]);
  const [{ id } = { id: "" }] = await sessionsOf(home);
  const alone = { code: 0, agent: [] };
  expect(await loadedBy("sessions", "list")).toEqual(alone);
  expect(await loadedBy("sessions", "show", id)).toEqual(alone);
  expect(await loadedBy("serve", "--port", "0")).toEqual(alone);
  expect(await loadedBy("doctor")).toEqual(alone);
  expect(await loadedBy("--session", id, "--model", "demo:other")).toEqual(alone);
  expect(await loadedBy("sessions", "export", id)).toEqual(alone);
  expect(await loadedBy("sessions", "import", file, "--new-ids")).toEqual(alone);
  expect(await loadedBy("sessions", "verify")).toEqual(alone);
  expect(await loadedBy("sessions", "repair", id)).toEqual(alone);
  const target = join(temporaryFolder(), "copy.db");
  expect(await loadedBy("copy", "--from", home.database, "--to", target)).toEqual(alone);
});
