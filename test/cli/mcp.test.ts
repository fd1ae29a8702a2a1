import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { hostile, notedIn, SOUND, type WrittenServer } from "../helpers/mcp.ts";
import { startProcess } from "../helpers/process.ts";
import { freshHome } from "../helpers/reprise.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const SOURCES = fileURLToPath(new URL("../../bin/reprise.js", import.meta.url));
const PRELOAD = fileURLToPath(new URL("../fixtures/programs/loaded-modules.ts", import.meta.url));

function homeWith(config: object) {
  const bench = freshHome({ ITS_TOKEN: "very-secret-value" });
  const folder = join(bench.home, ".config/reprise");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "config.jsonc");
  writeFileSync(file, JSON.stringify(config));
  return { ...bench, file };
}

/** A server whose start is noted by a shell: to load its program may take longer than Reprise waits for its tools. */
function noting(file: string): WrittenServer {
  const { command, args } = hostile("sound") as { command: string; args: string[] };
  return {
    command: "/bin/sh",
    args: ["-c", 'echo start >>"$0"; exec "$@"', file, command, ...args],
  };
}

const withServer = (server: WrittenServer, name = "s") => homeWith({ mcp: { [name]: server } });

describe("mcp", () => {
  it("[MCP-4] adds, checks, lists and removes servers, and prints what they log", async () => {
    const bench = homeWith({});
    const { command, args } = SOUND as { command: string; args: string[] };
    const env = ["--env", "SERVER_TOKEN=${ITS_TOKEN}"];
    expect((await bench.call(["mcp", "add", "sound", ...env, "--", command, ...args])).code).toBe(
      0,
    );
    expect(JSON.parse(readFileSync(bench.file, "utf8"))).toEqual({
      mcp: { sound: { command, args, env: { SERVER_TOKEN: "${ITS_TOKEN}" } } },
    });
    const [before] = await bench.json<object[]>(["mcp", "list", "--json"]);
    expect(before).toMatchObject({ name: "sound", enabled: true, place: command, tools: [] });
    const [checked] = await bench.json<object[]>(["mcp", "check", "--json"]);
    expect(checked).toMatchObject({ name: "sound", ok: true, protocol: "2026-07-28" });
    const listed = await bench.call(["mcp", "list"]);
    expect(listed.stdout).toMatch(/^sound +on +\S+ +config +5 tools$/m);
    const log = await bench.call(["mcp", "logs", "sound"]);
    expect(log.stdout).toMatch(/^pid \d+ secret \[SERVER_TOKEN\]$/m);
    expect(await bench.json(["mcp", "logs", "sound", "--json"])).toEqual({
      name: "sound",
      lines: [expect.stringMatching(/^pid \d+ secret \[SERVER_TOKEN\]$/)],
    });
    expect((await bench.call(["mcp", "add", "sound", "--", "x"])).code).toBe(2);
    expect((await bench.call(["mcp", "remove", "sound"])).code).toBe(0);
    expect((await bench.call(["mcp", "remove", "sound"])).code).toBe(2);
  });

  it("[MCP-4] ends a check with 1 if a server cannot be used", async () => {
    const bench = withServer(hostile("dies"));
    const { code, stdout, stderr } = await bench.call(["mcp", "check"]);
    expect(code).toBe(1);
    expect(stdout).toContain("s  cannot be used");
    expect(stderr).toContain("The MCP server s cannot be used: ");
  });

  it("[MCP-2] starts no server before it is needed", async () => {
    const file = join(temporaryFolder(), "noted");
    const names = Array.from({ length: 10 }, (_, at) => [`s${at}`, hostile("sound", file)]);
    const bench = homeWith({ mcp: Object.fromEntries(names) });
    for (const args of [["sessions", "list"], ["mcp", "list"], ["config", "get"], ["doctor"]]) {
      await bench.call(args);
    }
    expect(notedIn(file)).toEqual([]);
  });

  it("[MCP-2] loads the client with the first connection, not with ten servers that are not used", async () => {
    const file = join(temporaryFolder(), "noted");
    const names = Array.from({ length: 10 }, (_, at) => [`s${at}`, noting(file)]);
    const bench = homeWith({ mcp: Object.fromEntries(names) });
    const loaded = async (...args: string[]): Promise<string> => {
      const program = ["--import", PRELOAD, SOURCES, ...args];
      const { cwd, env } = { cwd: bench.project, env: bench.environment() };
      return (await startProcess(process.execPath, program, { cwd, env, input: "" }).finished)
        .stderr;
    };
    const client = /node_modules\/@modelcontextprotocol\//;
    expect(await loaded("sessions", "list")).not.toMatch(client);
    expect(await loaded("-p", "hello", "--persona", "reviewer")).not.toMatch(client);
    expect(notedIn(file)).toEqual([]);
    expect(await loaded("-p", "hello")).toMatch(client);
    expect(notedIn(file)).toHaveLength(10);
  });

  it("[MCP-3] shows no values of variables and headers, and no arguments", async () => {
    const bench = homeWith({
      mcp: {
        a: { command: "x", args: ["--token", "hidden-1"], env: { A: "hidden-2" } },
        b: { url: "https://u:hidden-3@example.com/?k=hidden-4", headers: { B: "hidden-5" } },
      },
    });
    for (const args of [
      ["config", "get"],
      ["config", "get", "--json"],
      ["mcp", "list"],
      ["mcp", "list", "--json"],
    ]) {
      const { stdout, stderr } = await bench.call(args);
      expect(stdout).toContain("https://example.com");
      expect(stdout + stderr).not.toContain("hidden");
    }
  });

  it.each<readonly [server: object, name: string, sentence: string]>([
    [{}, "s", "A server needs a command or a url, unless it is turned off."],
    [{ command: "x", url: "http://x/" }, "s", "Give one of command, url, not several."],
    [{ command: "x", headers: { A: "b" } }, "s", "This is for a server with a url."],
    [{ url: "http://x/", args: ["b"] }, "s", "This is for a server with a command."],
    [{ url: "x" }, "s", "This must be an address with its scheme"],
    [{ command: "x", timeout_ms: 0 }, "s", "This must be a whole number of 1 or more."],
    [{ command: "x", env: { "a b": "c" } }, "s", "This must be the exact name of a variable"],
    [{ command: "x" }, "a__b", "The name of a server has 1 to 32"],
    [{ command: "x" }, "a_", "The name of a server has 1 to 32"],
    [{ command: "x", mode: "y" }, "s", "There is no such key here"],
  ])("[MCP-1] refuses %j as %s", async (server, name, sentence) => {
    const { code, stderr } = await withServer({ ...server }, name).call(["config", "check"]);
    expect(code).not.toBe(0);
    expect(stderr).toContain(sentence);
  });

  it("[MCP-1] names the variable that a server needs", async () => {
    const bench = withServer({ ...SOUND, env: { A: "${NO_SUCH_VARIABLE}" } });
    for (const args of [["doctor"], ["mcp", "list"], ["mcp", "check"]]) {
      const { stdout, stderr } = await bench.call(args);
      expect(stdout + stderr).toContain("needs the variable NO_SUCH_VARIABLE, which is not set.");
    }
  });

  it("[MCP-1] takes servers of folders, which replace and turn off those of all", async () => {
    const bench = homeWith({ mcp: { a: SOUND, b: { url: "http://x/mcp", tools: ["t"] } } });
    const config: unknown = JSON.parse(readFileSync(bench.file, "utf8"));
    const folders = { [bench.project]: { mcp: { a: { enabled: false } } } };
    writeFileSync(bench.file, JSON.stringify({ ...(config as object), folders }));
    expect(await bench.json(["mcp", "list", "--json"])).toMatchObject([
      { name: "a", enabled: false },
      { name: "b", enabled: true, place: "http://x" },
    ]);
  });
});
