import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { configuredServers, type Server } from "../../src/mcp/configured-servers.ts";
import { MAX_DEFINITION_BYTES } from "../../src/mcp/listed-tools.ts";
import { Servers } from "../../src/mcp/servers.ts";
import { checkUserConfig } from "../../src/rules/config/load-config.ts";
import { findFamily } from "../../src/workspace/commands/processes.ts";
import { hostile, notedIn, resultOf, SOUND, type WrittenServer } from "../helpers/mcp.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const SESSION = "00000000-0000-4000-8000-000000000000";

/** Servers as a config has them. */
function openServers(mcp: Readonly<Record<string, WrittenServer>>, folder = temporaryFolder()) {
  const { config } = checkUserConfig(JSON.stringify({ mcp }), "/");
  const env = { PATH: process.env["PATH"], TOKEN_OF_TEST: "a secret of the server" };
  const here = { entries: config?.mcp ?? {}, held: [], problems: [] };
  const found = configuredServers(here, env);
  const servers = new Servers({
    ...found,
    env,
    folder,
    version: "0.0.0",
    listTimeoutMs: 60_000,
    session_id: SESSION,
    cwd: null,
    conceal: (text) => text,
    onSecrets: () => {},
  });
  onTestFinished(() => servers.end());
  const [first] = found.servers;
  const call = async (name: string, timeoutMs = 60_000, onProgress = (): void => {}) => {
    const connection = await servers.connection(first as Server, 60_000);
    const { tools } = await connection.list();
    const tool = tools.find((each) => each.name === name);
    return resultOf(
      connection.call({
        tool: tool ?? expect.fail(`no tool ${name}`),
        args: {},
        timeoutMs,
        signal: undefined,
        onProgress,
      }),
    );
  };
  return { servers, folder, call };
}

/** Those of these processes that have not ended, also if nobody has asked for their end. */
async function alive(pids: readonly number[]): Promise<readonly number[]> {
  const found = await Promise.all(
    pids.map((pid) => findFamily({ group: pid, isMarked: () => false })),
  );
  return pids.filter((pid, at) => found[at]?.includes(pid));
}

function pidsIn(file: string): number[] {
  return notedIn(file).flatMap((line) => {
    const [what, pid] = line.split(" ");
    return what === "start" || what === "child" ? [Number(pid)] : [];
  });
}

const namesOf = (tools: readonly { readonly fullName: string }[]) =>
  tools.map(({ fullName }) => fullName);

describe("[MCP-20] a server that cannot be used costs its tools and nothing else", () => {
  it.each<readonly [kind: string, server: WrittenServer, reason: string]>([
    ["does not exist", { command: "/nowhere/server" }, "is not there"],
    ["ends at once", hostile("dies"), "ended"],
    ["refuses connections", { url: "http://127.0.0.1:9/mcp" }, ""],
    ["needs a variable", { ...SOUND, env: { A: "${NO_SUCH_VARIABLE}" } }, "NO_SUCH_VARIABLE"],
  ])("one that %s", async (_, server, reason) => {
    const { servers } = openServers({ bad: server, sound: SOUND });
    const { tools, problems } = await servers.offered();
    expect(namesOf(tools)).toContain("sound__echo");
    expect(namesOf(tools).filter((name) => name.startsWith("bad__"))).toEqual([]);
    expect(problems).toEqual([expect.stringContaining("bad")]);
    expect(problems.join()).toContain(reason);
  });

  it("those that never answer, or never list their tools", async () => {
    const bad = { silent: hostile("silent"), silent_list: hostile("silent_list") };
    const { servers } = openServers({ ...bad, sound: SOUND });
    // its tools are known before, so that only the others take the time
    const sound = servers.serverOf("sound__echo") ?? expect.fail("no server");
    await (await servers.connection(sound)).list();
    const { tools, problems } = await servers.offered(2000);
    expect(new Set(tools.map(({ fullName }) => fullName.split("__")[0]))).toEqual(
      new Set(["sound"]),
    );
    expect(problems).toEqual(
      Object.keys(bad).map((name) =>
        expect.stringMatching(new RegExp(`\\b${name}\\b.*did not answer in time`)),
      ),
    );
  });

  it("one that was reached before has the tools that it had", async () => {
    const { servers, folder } = openServers({ sound: SOUND });
    const { tools } = await servers.offered();
    expect(tools).not.toEqual([]);
    const [name = ""] = readdirSync(join(folder, "tools"));
    expect(name).toMatch(/^sound-[0-9a-f]{16}\.json$/);
    const later = openServers({ sound: SOUND }, folder);
    const given = await later.servers.offered(0);
    expect(given.tools).toEqual(tools);
    expect(given.problems).toEqual([expect.stringContaining("the tools that it had before")]);
  });

  it("one that ends again and again is left alone", async () => {
    const file = join(temporaryFolder(), "noted");
    const { call } = openServers({ bad: hostile("dies_in_call", file) });
    for (let at = 0; at < 3; at += 1) {
      await expect(call("act")).rejects.toThrow("closed");
    }
    await expect(call("act")).rejects.toThrow("again and again");
    expect(notedIn(file).filter((line) => line.startsWith("call"))).toHaveLength(3);
  });
});

describe("[MCP-21] a list of tools", () => {
  it("without end is cut", async () => {
    const { servers } = openServers({ bad: hostile("endless") });
    expect((await servers.offered()).tools.length).toBeLessThanOrEqual(20);
  });

  it("has names that providers accept, each once, and texts that a terminal may show", async () => {
    const { servers } = openServers({ bad: hostile("names") });
    const { tools, problems } = await servers.offered();
    expect(namesOf(tools)).toEqual(["bad__read_file", "bad__fine"]);
    expect(tools[1]?.description).toBe("Clears ␛[2J the screen <U+202E> and hides.");
    expect(problems).toHaveLength(4);
    // oxlint-disable-next-line no-control-regex -- none may be there
    expect(problems.join("")).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });

  it("has schemas of a bounded size, without what a provider refuses", async () => {
    const { servers } = openServers({ bad: hostile("schemas") });
    const { tools, problems } = await servers.offered();
    expect(namesOf(tools)).toEqual(["bad__long", "bad__fine"]);
    expect(tools[0]?.description).toHaveLength(4000);
    expect(tools[1]?.schema).toEqual({
      type: "object",
      properties: { a: { type: "string" } },
    });
    expect(problems).toHaveLength(4);
  });

  it("has 64 KiB of definitions at most", async () => {
    const { servers } = openServers({ bad: hostile("many") });
    const { tools, problems } = await servers.offered();
    const bytes = JSON.stringify(
      tools.map(({ fullName, description, schema }) => [fullName, description, schema]),
    ).length;
    expect(tools.length).toBeGreaterThan(50);
    expect(bytes).toBeLessThanOrEqual(MAX_DEFINITION_BYTES + tools.length);
    expect(problems).toEqual([expect.stringContaining("64 KiB")]);
  });

  it("has the tools alone that the config names", async () => {
    const { servers } = openServers({ sound: { ...SOUND, tools: ["echo", "gone"] } });
    const { tools, problems } = await servers.offered();
    expect(namesOf(tools)).toEqual(["sound__echo"]);
    expect(problems).toEqual([`The server sound has no tool "gone", which the config names.`]);
  });
});

describe("[MCP-22] a call", () => {
  it.each([
    ["dies_in_call", /closed|ended/i],
    ["endless_line", /closed|ended/i],
    ["floods", /closed|ended/i],
  ])("of a server that misbehaves (%s) fails", async (kind, message) => {
    const { call } = openServers({ bad: hostile(kind) });
    await expect(call("act")).rejects.toThrow(message);
  });

  it("that is not answered ends with its time", async () => {
    const { call } = openServers({ bad: hostile("silent_call") });
    await expect(call("act", 200)).rejects.toMatchObject({ code: "REQUEST_TIMEOUT" });
  });

  it.each(["noise", "dies_on_unknown", "asks"])(
    "works with a server that is odd (%s)",
    async (kind) => {
      const file = join(temporaryFolder(), "noted");
      const { call } = openServers({ bad: hostile(kind, file) });
      expect(await call("act")).toBe("called");
      const answers = notedIn(file).filter((line) => line.startsWith("answer"));
      // nobody is asked
      expect(answers.every((line) => line.includes(`"error"`))).toBe(true);
    },
  );

  it("has a result that is bounded and has no control characters", async () => {
    const megabytes = openServers({ bad: hostile("megabytes") });
    const long = await megabytes.call("act");
    expect(long.length).toBeLessThan(33_000);
    expect(long).toContain("characters were left out here");
    const escapes = openServers({ bad: hostile("escapes") });
    const text = await escapes.call("act");
    // oxlint-disable-next-line no-control-regex -- none may be there
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    expect(text.isWellFormed()).toBe(true);
  });
});

describe("[MCP-120] a server that sends too much unasked", () => {
  it("is ended if it asks again and again, before all of it is answered", async () => {
    const file = join(temporaryFolder(), "noted");
    const { call } = openServers({ bad: hostile("pings", file) });
    await expect(call("act")).rejects.toThrow("it asks too much at once");
    const answers = notedIn(file).filter((line) => line.startsWith("answer"));
    expect(answers.length).toBeLessThan(3000);
  });

  it("is ended if its questions are large: an answer to one permits no more of them", async () => {
    const { call } = openServers({ bad: hostile("huge_pings") });
    await expect(call("act")).rejects.toThrow(/closed|ended/i);
  });

  it("loses notifications that are too many, and no result", async () => {
    let reports = 0;
    const { call } = openServers({ bad: hostile("chatters") });
    expect(await call("act", undefined, () => void (reports += 1))).toBe("called");
    expect(reports).toBeGreaterThan(0);
    expect(reports).toBeLessThan(20_000);
  });

  it("names the first of its tools that cannot be used, and counts the others", async () => {
    const { servers } = openServers({ bad: hostile("bad_names") });
    const { problems } = await servers.offered();
    expect(problems).toHaveLength(6);
    expect(problems.at(-1)).toBe("995 more tools of bad are not used.");
  });
});

it.each(["deep", "indented"])(
  "[MCP-121] a result that is %s costs no more than another one of its size",
  async (kind) => {
    const { call } = openServers({ bad: hostile(kind) });
    const text = await call("act");
    expect(text).toMatch(kind === "deep" ? /too deep to be shown/ : /characters were left out/);
    expect(text.length).toBeLessThan(33_000);
    const left = /\[([\d,]+) characters were left out here\]/.exec(text)?.[1] ?? "0";
    expect(Number(left.replaceAll(",", ""))).toBeLessThan(3_000_000);
  },
);

describe("[MCP-23] a server's process", () => {
  it("is ended with all that it started, although it does not want to", async () => {
    const file = join(temporaryFolder(), "noted");
    const { servers, call } = openServers({ bad: hostile("lingers", file) });
    await call("act");
    const pids = pidsIn(file);
    expect(pids).toHaveLength(2);
    expect(await alive(pids)).toEqual(pids);
    await servers.end();
    expect(await alive(pids)).toEqual([]);
  });

  it("is started once for calls that come together", async () => {
    const file = join(temporaryFolder(), "noted");
    const { call } = openServers({ bad: hostile("sound", file) });
    await Promise.all([call("act"), call("act"), call("act")]);
    expect(notedIn(file).filter((line) => line.startsWith("start"))).toHaveLength(1);
  });

  it("is ended when the session continues after Reprise was killed", async () => {
    const { servers } = openServers({ sound: SOUND });
    const gone = spawnSync(process.execPath, ["-e", ""]).pid;
    const mark = `${SESSION}:${gone}:${randomUUID()}:${randomUUID()}`;
    const left = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], {
      env: { REPRISE_COMMAND: `,${mark}` },
      stdio: "ignore",
    });
    onTestFinished(() => void left.kill("SIGKILL"));
    const exit = once(left, "exit");
    await servers.endLeftRunning();
    await exit;
    expect(left.signalCode).toBe("SIGTERM");
  });

  it("writes its standard error to a log, without secrets", async () => {
    const { servers, folder } = openServers({
      sound: { ...SOUND, env: { SERVER_TOKEN: "${TOKEN_OF_TEST}" } },
    });
    await servers.offered();
    await servers.end();
    const [name = ""] = readdirSync(join(folder, "logs"));
    const log = readFileSync(join(folder, "logs", name), "utf8");
    expect(log).toMatch(/^pid \d+ secret \[SERVER_TOKEN\]\n/);
  });
});
