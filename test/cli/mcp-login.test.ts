import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { freePort } from "../helpers/free-port.ts";
import { SOUND } from "../helpers/mcp.ts";
import { startOAuth, visit } from "../helpers/oauth-server.ts";
import { freshHome } from "../helpers/reprise.ts";
import { openTerminal } from "../helpers/terminal.ts";

const ADDRESS = /http:\/\/127\.0\.0\.1:\d+\/authorize\?\S+/;

function homeWith(mcp: object) {
  const home = freshHome();
  const folder = join(home.home, ".config/reprise");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "config.jsonc"), JSON.stringify({ mcp }));
  const file = join(home.home, ".local/state/reprise/mcp/logins.json");
  return {
    ...home,
    file,
    /** Starts a login, and returns its address once it is shown. */
    startLogin: async () => {
      const running = home.start(["mcp", "login", "guarded"]);
      const [address = ""] = await running.waitFor(ADDRESS);
      return { running, address };
    },
  };
}

describe("mcp login", () => {
  it("[MCP-48] shows an address, keeps the login and never shows it; logout forgets and revokes it", async () => {
    const service = await startOAuth();
    const home = homeWith({ guarded: { url: service.resource } });
    const before = await home.call(["mcp", "check"]);
    expect(before.stderr).toContain("it needs a login: `reprise mcp login guarded`.");
    const { running, address } = await home.startLogin();
    await visit(address);
    const { code, stdout, stderr } = await running.finished;
    expect({ code, stderr: stderr.includes(new URL(service.issuer).origin) }).toEqual({
      code: 0,
      stderr: true,
    });
    expect(stdout).toMatch(/^logged in {2}guarded$/m);
    const kept = readFileSync(home.file, "utf8");
    const tokens = Array.from(kept.matchAll(/"((?:access|refresh)-\w+)"/g), ([, token]) => token);
    expect(tokens).toHaveLength(2);
    const checked = await home.call(["mcp", "check"]);
    expect(checked.stdout).toContain("guarded__act");
    const listed = await home.call(["mcp", "list"]);
    const shown = [stdout, stderr, checked, listed, await home.call(["doctor"])];
    expect(tokens.filter((token) => JSON.stringify(shown).includes(token ?? ""))).toEqual([]);
    const out = await home.call(["mcp", "logout", "guarded"]);
    expect(out).toMatchObject({ code: 0, stdout: "logged out  guarded\n" });
    expect(service.revoked).toEqual([tokens.find((token) => token?.startsWith("refresh"))]);
    expect(readFileSync(home.file, "utf8")).not.toContain("access-");
    expect((await home.call(["mcp", "logout", "guarded"])).code).toBe(2);
    expect(service.refused).toEqual([]);
  });

  it("[MCP-48] opens the browser if asked, without a shell", async () => {
    const service = await startOAuth();
    const home = homeWith({ guarded: { url: service.resource } });
    const bin = join(home.home, ".bin");
    mkdirSync(bin, { recursive: true });
    const opener = join(bin, process.platform === "darwin" ? "open" : "xdg-open");
    const script = `#!${process.execPath}\nfetch(process.argv[2]);\n`;
    writeFileSync(opener, script, { mode: 0o755 });
    const { code, stdout } = await home.run(["mcp", "login", "guarded", "--open"]);
    expect({ code, isIn: stdout.includes("logged in  guarded") }).toEqual({ code: 0, isIn: true });
  });

  it("[MCP-91] takes the address that a browser on another machine was sent to, in a terminal", async () => {
    const service = await startOAuth();
    const home = homeWith({ guarded: { url: service.resource } });
    const terminal = openTerminal(home, "reprise mcp login guarded");
    await terminal.shows(/paste the address of that page here/);
    const [address = ""] = await terminal.shows(ADDRESS);
    // the browser cannot reach the port of this machine, and its person sees the address
    const { headers } = await fetch(address, { redirect: "manual" });
    const end = headers.get("location") ?? "";
    terminal.type(`${end.replace(/state=[^&]*/, "state=of-another-login")}\r`);
    await terminal.shows(/is not the address that the login waits for/);
    terminal.type("hello\r");
    await terminal.shows(/is not the address that the login waits for/);
    terminal.type(`${end}\r`);
    await terminal.shows(/logged in {2}guarded/);
    expect((await terminal.finished).code).toBe(0);
    expect(service.refused).toEqual([]);
    expect((await home.call(["mcp", "check"])).stdout).toContain("guarded__act");
  });

  it("[MCP-91] reads nothing of a pipe, which may be a script's", async () => {
    const service = await startOAuth();
    const home = homeWith({ guarded: { url: service.resource } });
    const { running, address } = await home.startLogin();
    expect(running.stderr()).not.toContain("paste");
    await visit(address);
    expect((await running.finished).code).toBe(0);
  });

  it("[MCP-92] mcp list says which servers have a login, and which need more rights", async () => {
    const service = await startOAuth({ callScope: "tools:act" });
    const home = homeWith({ guarded: { url: service.resource }, sound: SOUND });
    const logins = async () => {
      const rows = await home.json<{ name: string; login: string | null }[]>([
        "mcp",
        "list",
        "--json",
      ]);
      return rows.map(({ name, login }) => `${name} ${login}`);
    };
    expect(await logins()).toEqual(["guarded null", "sound null"]);
    const { running, address } = await home.startLogin();
    await visit(address);
    await running.finished;
    expect(await logins()).toEqual(["guarded kept", "sound null"]);
    expect((await home.call(["mcp", "list"])).stdout).toMatch(/^guarded .*logged in$/m);
    const kept = JSON.parse(readFileSync(home.file, "utf8")) as { logins: object[] };
    kept.logins = kept.logins.map((login) => ({ ...login, wanted: "tools:act" }));
    writeFileSync(home.file, JSON.stringify(kept));
    expect(await logins()).toEqual(["guarded needs_more_rights", "sound null"]);
    const listed = await home.call(["mcp", "list"]);
    expect(listed.stdout).toMatch(/^guarded .*needs more rights$/m);
    expect(listed.stderr).toContain("more rights: `reprise mcp login guarded`");
    const again = await home.startLogin();
    expect(new URL(again.address).searchParams.get("scope")).toBe("tools tools:act");
    await visit(again.address);
    await again.running.finished;
    expect(await logins()).toEqual(["guarded kept", "sound null"]);
    expect((await home.call(["mcp", "logout", "guarded"])).code).toBe(0);
    expect(await logins()).toEqual(["guarded null", "sound null"]);
  });

  it("[MCP-43] ends with Ctrl-C, and keeps nothing", async () => {
    const service = await startOAuth();
    const home = homeWith({ guarded: { url: service.resource } });
    const { running, address } = await home.startLogin();
    const { code, stderr } = await running.stop("SIGINT");
    expect(code).toBe(1);
    expect(stderr).toContain("The login at the MCP server guarded failed: it was cancelled.");
    expect(existsSync(home.file)).toBe(false);
    await expect(visit(address)).rejects.toThrow("fetch failed");
  });

  it("[MCP-48] says what is wrong", async () => {
    const home = homeWith({
      sound: SOUND,
      own: { url: "http://127.0.0.1:9/mcp", headers: { Authorization: "Bearer x" } },
      dead: { url: "http://127.0.0.1:9/mcp" },
      open: { url: "https://x/mcp", headers: { A: "${NO_SUCH_VARIABLE}" } },
    });
    for (const [name, sentence] of [
      ["sound", "This server is a program"],
      ["own", "a header Authorization"],
      ["open", "needs the variable NO_SUCH_VARIABLE"],
      ["none", "There is no MCP server of this name; the servers are sound, own, dead"],
    ]) {
      const { code, stderr } = await home.call(["mcp", "login", name ?? ""]);
      expect({ code, isSaid: stderr.includes(sentence ?? "") }).toEqual({ code: 2, isSaid: true });
    }
    const { code, stderr } = await home.call(["mcp", "login", "dead"]);
    expect(code).toBe(1);
    expect(stderr).toContain("failed: its authorization server cannot be reached.");
  });

  it("[MCP-49] takes a client that was registered by hand, with its port", async () => {
    const port = await freePort();
    const service = await startOAuth({
      metadata: ({ registration_endpoint: _, ...metadata }) => metadata,
    });
    const home = homeWith({
      guarded: {
        url: service.resource,
        oauth: { client_id: "by-hand", client_secret: "${A_SECRET}", callback_port: port },
      },
    });
    service.clients.set("by-hand", [`http://127.0.0.1:${port}/callback`]);
    const running = home.start(["mcp", "login", "guarded"], {
      env: { A_SECRET: "very-secret-value" },
    });
    const [address = ""] = await running.waitFor(ADDRESS);
    expect(new URL(address).searchParams.get("redirect_uri")).toBe(
      `http://127.0.0.1:${port}/callback`,
    );
    await visit(address);
    const { code, stdout, stderr } = await running.finished;
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain("very-secret-value");
    const wrong = homeWith({
      a: { command: "x", oauth: { client_id: "y" } },
      b: { url: "https://x", oauth: {} },
    });
    const checked = await wrong.call(["config", "check"]);
    expect(checked.stderr).toContain("This is for a server with a url.");
    expect(checked.stderr).toContain("This needs the key client_id.");
  });
});
