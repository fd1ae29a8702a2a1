import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { startEditor } from "../helpers/editor.ts";
import { SOUND } from "../helpers/mcp.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { startOAuth, visit } from "../helpers/oauth-server.ts";
import { freshHome } from "../helpers/reprise.ts";
import { fill, makeRoom, mayMount, smallDisk } from "../helpers/small-disk.ts";

const ADDRESS = /http:\/\/127\.0\.0\.1:\d+\/authorize\?\S+/;

function homeWith(mcp: object, env: Readonly<Record<string, string>> = {}) {
  const home = freshHome(env);
  const folder = join(home.home, ".config/reprise");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "config.jsonc"), JSON.stringify({ mcp }), { mode: 0o600 });
  return home;
}

/** Files below a folder but those that fill the disk. */
const filesIn = (disk: string) =>
  readdirSync(disk, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith("ballast"))
    .map(({ name }) => name);

describe.skipIf(!mayMount())("a disk that is full (needs the right to mount a tmpfs)", () => {
  it("[MCP-142] a login that cannot be kept fails with what to do, is revoked and leaves what was there", async () => {
    const service = await startOAuth();
    const disk = smallDisk("1m");
    const home = homeWith({ guarded: { url: service.resource } }, { XDG_STATE_HOME: disk });
    const logIn = async () => {
      const running = home.start(["mcp", "login", "guarded"]);
      const [address = ""] = await running.waitFor(ADDRESS);
      await visit(address);
      return running.finished;
    };
    expect((await logIn()).code).toBe(0);
    const file = join(disk, "reprise/mcp/logins.json");
    const kept = readFileSync(file, "utf8");
    const before = filesIn(disk);
    fill(disk);
    const { code, stdout, stderr } = await logIn();
    expect(stderr).toContain("Logins cannot be kept in the folder reprise/mcp");
    expect(stderr).toContain("whether the disk is full. [file_unwritable]");
    expect(stderr).not.toMatch(/access-|refresh-|itself/);
    expect({ code, isIn: stdout.includes("logged in") }).toEqual({ code: 1, isIn: false });
    expect(readFileSync(file, "utf8")).toBe(kept);
    expect(filesIn(disk)).toEqual(before);
    expect(service.revoked).toEqual([expect.stringMatching(/^refresh-/)]);
    expect(kept).not.toContain(service.revoked[0]);
    const out = await home.call(["mcp", "logout", "guarded"]);
    expect(out.stderr).toContain("[file_unwritable]");
    expect(readFileSync(file, "utf8")).toBe(kept);
    makeRoom(disk);
    expect((await home.call(["mcp", "check"])).stdout).toContain("guarded__act");
    expect((await home.call(["mcp", "logout", "guarded"])).code).toBe(0);
  });

  it("[MCP-143] lists that cannot be kept cost nothing: the tools are used, and nothing half written is left", async () => {
    const server = await startModelServer({
      answer: (messages) =>
        messages.at(-1)?.role === "user"
          ? { toolCalls: [{ name: "sound__echo", arguments: '{"text":"hello"}' }] }
          : { content: `end: ${messages.at(-1)?.content}` },
    });
    const disk = smallDisk("1m");
    const env = { ...server.env("openai"), REPRISE_MODEL: "openai:test", XDG_STATE_HOME: disk };
    const home = homeWith({ sound: SOUND }, env);
    fill(disk);
    const { code, stdout } = await home.run(["-p", "go", "--permission", "all"], { input: "" });
    expect(stdout).toContain("end: echo: hello");
    expect(code).toBe(0);
    expect(filesIn(join(disk, "reprise")).filter((name) => !name.endsWith(".log"))).toEqual([]);
    makeRoom(disk);
    await home.run(["-p", "go", "--permission", "all"], { input: "" });
    expect(filesIn(join(disk, "reprise/mcp/tools"))).toHaveLength(1);
  });

  it("[ACP-93] a prompt that cannot be stored is an error with its reason, and the next one works once there is space", async () => {
    const server = await startModelServer({ answer: (_, at) => ({ content: `answer ${at}` }) });
    const disk = smallDisk("4m");
    const database = join(disk, "reprise.db");
    const env = { ...server.env("openai"), REPRISE_MODEL: "openai:test" };
    const home = homeWith({}, { ...env, REPRISE_DATABASE: database });
    const editor = await startEditor(home);
    const sessionId = await editor.begin();
    await editor.prompt(sessionId, "first");
    fill(disk);
    const requests = server.requests().length;
    await expect(editor.prompt(sessionId, "x".repeat(200_000))).rejects.toMatchObject({
      message: expect.stringContaining("The disk is full, so nothing was stored"),
      data: { code: "database_full" },
    });
    expect(server.requests()).toHaveLength(requests);
    makeRoom(disk);
    expect(await editor.prompt(sessionId, "second")).toMatchObject({ stopReason: "end_turn" });
    const other = await startEditor(home);
    await other.request("session/load", { sessionId, cwd: home.project, mcpServers: [] });
    expect(other.transcript()).toEqual([
      "user: first",
      "agent: answer 0",
      "user: second",
      "agent: answer 1",
    ]);
    expect((await home.call(["sessions", "verify", sessionId])).code).toBe(0);
  });

  it("[ACP-93] a disk that fills while the model answers fails the prompt, which continues once there is space", async () => {
    const disk = smallDisk("4m");
    const server = await startModelServer({
      answer: (_, at) => {
        if (at === 1) {
          fill(disk);
        }
        return { content: at === 1 ? "long ".repeat(60_000) : `answer ${at}` };
      },
    });
    const env = { ...server.env("openai"), REPRISE_MODEL: "openai:test" };
    const home = homeWith({}, { ...env, REPRISE_DATABASE: join(disk, "reprise.db") });
    const editor = await startEditor(home);
    const sessionId = await editor.begin();
    await editor.prompt(sessionId, "first");
    await expect(editor.prompt(sessionId, "second")).rejects.toMatchObject({
      message: expect.stringContaining("The disk is full"),
      data: { code: "database_full" },
    });
    makeRoom(disk);
    const other = await startEditor(home);
    await other.request("session/load", { sessionId, cwd: home.project, mcpServers: [] });
    const stored = ["user: first", "agent: answer 0", "user: second"];
    expect(other.transcript()).toEqual(stored);
    // another process would wait until the lease, which could not be given back, expires (LEASE-4)
    expect(await editor.prompt(sessionId, "/continue")).toMatchObject({ stopReason: "end_turn" });
    const whole = [...stored, "agent: answer 2"];
    await expect.poll(() => other.transcript()).toEqual(whole);
    const third = await startEditor(home);
    await third.request("session/load", { sessionId, cwd: home.project, mcpServers: [] });
    expect(third.transcript()).toEqual(whole);
    expect((await home.call(["sessions", "verify", sessionId])).code).toBe(0);
  });
});
