import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { describe, expect, it } from "vitest";

import { hostile, notedIn, SOUND, type WrittenServer } from "../helpers/mcp.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { freshHome } from "../helpers/reprise.ts";
import { temporaryFolder } from "../helpers/temp.ts";
import { trustFolder } from "../helpers/trust.ts";

type Servers = Readonly<Record<string, WrittenServer>>;

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** A home whose model calls the tool `name` of a server once, and repeats the result. */
async function homeWith(name: string, variables: Readonly<Record<string, string>> = {}) {
  const server = await startModelServer({
    answer: (messages) => {
      const last = messages.at(-1);
      return last?.role === "user"
        ? { toolCalls: [{ name, arguments: "{}" }] }
        : { content: `end: ${last?.content}` };
    },
  });
  const home = freshHome({
    ...server.env("openai"),
    REPRISE_MODEL: "openai:gpt-test",
    ...variables,
  });
  return {
    ...home,
    server,
    servers: (mcpServers: Servers) =>
      write(join(home.project, ".mcp.json"), JSON.stringify({ mcpServers })),
    persona: (path: string, front: string) =>
      write(join(home.project, path), `---\ndescription: x\n${front}\n---\nBe brief.\n`),
    configure: (config: object) =>
      write(join(home.home, ".config/reprise/config.jsonc"), JSON.stringify(config)),
    ask: (...args: string[]) => home.call(["-p", "go", "--permission", "all", ...args]),
  };
}

const noted = () => join(temporaryFolder(), "noted");
const startsIn = (file: string) => notedIn(file).filter((line) => line.startsWith("start"));

it("[CLI-472] a script that waits for a call of a server names the option that allows it, and no mode", async () => {
  const home = await homeWith("sound__echo");
  home.configure({ mcp: { sound: SOUND } });
  const { code, stderr } = await home.call(["-p", "go"]);
  expect(code).toBe(7);
  expect(stderr).toContain(
    "To let it call a tool of an MCP server without a question, use --allow sound__echo, or `permission.allow` of your config.",
  );
  expect(stderr).not.toContain("--permission edits");
  const allowed = await home.call(["-p", "go", "--allow", "sound__echo"]);
  expect(allowed.code).toBe(0);
});

describe("servers of .mcp.json", () => {
  it("[MCP-31] start only once they were shown, and never as others than were shown", async () => {
    const home = await homeWith("bad__act", { ITS_TOKEN: "very-secret-value" });
    const file = noted();
    const server: WrittenServer = { ...hostile("sound", file), env: { A_TOKEN: "${ITS_TOKEN}" } };
    home.servers({ bad: server });
    // not trusted
    const untrusted = await home.ask();
    expect(untrusted.stdout).toContain("there is no tool of this name");
    expect(untrusted.stderr).toMatch(/not trusted, so these are not used: \.mcp\.json \(/);
    await home.call(["mcp", "check"]);
    // trusted without them
    trustFolder(home.home, home.project);
    const unseen = await home.ask();
    expect(unseen.stderr).toContain(".mcp.json has MCP servers that you have not seen");
    await home.call(["mcp", "check"]);
    expect((await home.call(["doctor"])).stdout).toContain("servers that you have not seen");
    expect(startsIn(file)).toEqual([]);
    // shown
    const added = await home.call(["trust", "add"]);
    expect(added.stdout).toContain(
      `server   bad: ${process.execPath} ${(server["args"] as string[]).join(" ")} (gets A_TOKEN; reads your ITS_TOKEN)`,
    );
    expect(added.stdout).not.toContain("very-secret-value");
    expect((await home.ask()).stdout).toContain("end: called");
    const starts = startsIn(file).length;
    expect(starts).toBeGreaterThan(0);
    // changed
    home.servers({ bad: { ...server, env: { A_TOKEN: "other" } } });
    const changed = await home.ask();
    expect(changed.stderr).toContain("that you have not seen");
    expect(startsIn(file)).toHaveLength(starts);
    // for one run
    expect((await home.ask("--trust")).stdout).toContain("end: called");
  });

  it("[MCP-30] get variables of the user, or the defaults of the file", async () => {
    const home = await homeWith("sound__variable");
    home.servers({
      sound: { ...SOUND, command: "${NODE:-nothing}", args: ["${WHERE}"], env: {} },
      other: { ...SOUND, env: { A: "${NOT_SET}" } },
    });
    await home.call(["trust", "add"]);
    const missing = await home.call(["mcp", "check"]);
    expect(missing.stderr).toContain("needs the variable WHERE");
    expect(missing.stderr).toContain("needs the variable NOT_SET");
    const [where = ""] = SOUND["args"] as string[];
    const found = await home.call(["mcp", "check", "sound", "--json"], {
      env: { WHERE: where, NODE: process.execPath },
    });
    expect(JSON.parse(found.stdout)).toMatchObject([{ name: "sound", ok: true }]);
  });

  it("[MCP-32] count less than the user's own of the same name, and the list says so", async () => {
    const home = await homeWith("sound__variable");
    const file = noted();
    home.servers({ sound: hostile("sound", file), off: SOUND, mine: SOUND });
    home.configure({ mcp: { sound: SOUND, off: { enabled: false } } });
    expect(await home.json(["mcp", "list", "--json"])).toMatchObject([
      { name: "sound", from: "config", problem: null },
      { name: "off", from: "config", enabled: false },
      { name: "sound", from: ".mcp.json", problem: expect.stringContaining("another one") },
      { name: "off", from: ".mcp.json", problem: expect.stringContaining("another one") },
      { name: "mine", from: ".mcp.json", problem: expect.stringContaining("not trusted") },
    ]);
    await home.call(["trust", "add"]);
    const { stdout } = await home.call(["mcp", "list"]);
    expect(stdout).toMatch(/^mine +on +\S+ +\.mcp\.json/m);
    await home.call(["mcp", "check"]);
    expect(startsIn(file)).toEqual([]);
  });

  it("[MCP-31] are shown with every character, and with the number of blanks", async () => {
    const home = await homeWith("a__act");
    const args = [`a${" ".repeat(3000)}; evil`, "\u202egnp.x", "\u001b[2J"];
    home.servers({ a: { command: "good", args } });
    const { stdout } = await home.call(["trust", "add"]);
    expect(stdout).toContain(`server   a: good "a<3000 spaces>; evil"`);
    // oxlint-disable-next-line no-control-regex -- none may be there
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });

  it("[MCP-122] are shown as far as a person can read, and what is left stays off until it is shown", async () => {
    const home = await homeWith("a__act");
    for (const name of ["one", "two", "three", "four", "five"]) {
      const servers = Array.from({ length: 30 }, (_, at) => [`${name}${at}`, { command: "x" }]);
      const written = JSON.stringify(Object.fromEntries(servers));
      home.persona(`.reprise/personas/${name}.md`, `mcpServers: ${written}`);
    }
    const shownBy = ({ stdout }: { readonly stdout: string }): string[] => [
      ...new Set(stdout.match(/(?<=^server {3})[a-z]+(?=\d)/gm)),
    ];
    const first = await home.call(["trust", "add"]);
    expect(shownBy(first)).toHaveLength(3);
    expect(first.stderr).toContain("2 more files name what would be started");
    const left = await home.call(["mcp", "list", "--persona", "two"]);
    expect(left.stdout + left.stderr).toContain("that you have not seen");
    const second = await home.call(["trust", "add"]);
    expect(new Set([...shownBy(first), ...shownBy(second)]).size).toBe(5);
    expect(second.stderr).not.toContain("more files");
    const seen = await home.call(["mcp", "list", "--persona", "two"]);
    expect(seen.stdout + seen.stderr).not.toContain("that you have not seen");
  });

  it("[MCP-122] are no more than a person can read in one file", async () => {
    const home = await homeWith("a__act");
    const servers = Array.from({ length: 50 }, (_, at): [string, WrittenServer] => [
      `s${at}`,
      { command: "x".repeat(2000) },
    ]);
    home.servers(Object.fromEntries(servers));
    const command = "y".repeat(4000);
    const hooks = { Stop: Array.from({ length: 10 }, () => ({ command })) };
    write(join(home.project, ".reprise/config.jsonc"), JSON.stringify({ hooks }));
    const { stdout } = await home.call(["trust", "add"]);
    expect(stdout.length).toBeLessThan(40_000);
    expect(stdout).toContain("server   s0: xxx");
    expect(stdout).not.toContain("hook");
    const { stderr } = await home.call(["mcp", "list"]);
    expect(stderr).toContain("it is more than a person can read");
    expect((await home.call(["doctor"])).stdout).toContain("has hooks of more than 32 KiB");
  });

  it("[MCP-33] cost themselves and nothing else if they cannot be used", async () => {
    const home = await homeWith("good__act");
    home.servers({ good: hostile("sound"), bad: { command: 5 }, "\u001b[2J": { command: "x" } });
    await home.call(["trust", "add"]);
    const { stdout, stderr } = await home.ask();
    expect(stdout).toContain("end: called");
    expect(stderr).toContain(`In .mcp.json, the server "bad" is not used: its command`);
    expect(stderr).not.toContain("\u001b");
    write(join(home.project, ".mcp.json"), "{");
    const broken = await home.ask();
    expect(broken.code).toBe(0);
    expect(broken.stderr).toContain(".mcp.json is not used: it is not JSON.");
  });
});

describe("servers of personas", () => {
  const inline = (server: WrittenServer, name = "extra") =>
    `mcpServers:\n  - ${JSON.stringify({ [name]: server })}\n  - elsewhere`;

  it("[MCP-34] are used only while their persona answers, once they were shown", async () => {
    const home = await homeWith("extra__act");
    const file = noted();
    home.persona(".claude/agents/helper.md", `name: helper\n${inline(hostile("sound", file))}`);
    trustFolder(home.home, home.project);
    const unseen = await home.ask("--persona", "helper");
    expect(unseen.stderr).toContain("helper.md has MCP servers that you have not seen");
    expect((await home.call(["trust", "add"])).stdout).toMatch(
      /^server {3}extra: .*hostile\.js sound .*\(\.claude\/agents\/helper\.md\)$/m,
    );
    expect((await home.ask()).stdout).toContain("there is no tool of this name");
    expect(startsIn(file)).toEqual([]);
    expect((await home.ask("--persona", "helper")).stdout).toContain("end: called");
    expect(await home.json(["mcp", "list", "--json"])).toEqual([]);
    expect(await home.json(["personas", "show", "helper", "--json"])).toMatchObject({
      servers: ["extra"],
    });
    expect((await home.call(["personas", "show", "helper"])).stdout).toMatch(
      /^server +extra: .*hostile\.js sound/m,
    );
    expect(await home.json(["mcp", "list", "--persona", "helper", "--json"])).toMatchObject([
      { name: "extra", from: ".claude/agents/helper.md", problem: null },
    ]);
  });

  it("[MCP-34] in the form of Reprise are an object, whose mistakes are errors", async () => {
    const home = await homeWith("extra__act");
    const path = ".reprise/personas/helper.md";
    home.persona(path, `mcpServers: ${JSON.stringify({ extra: hostile("sound") })}`);
    expect((await home.ask("--persona", "helper", "--trust")).stdout).toContain("end: called");
    home.persona(path, "mcpServers: { extra: { command: 5 } }");
    const { code, stderr } = await home.ask("--persona", "helper", "--trust");
    expect(code).not.toBe(0);
    expect(stderr).toContain(`line 3: the server "extra" is not used: its command must be a text`);
  });

  it("[MCP-34] of the user's own personas need no trust, and win over the config", async () => {
    const home = await homeWith("extra__act");
    const file = noted();
    home.configure({ mcp: { extra: hostile("sound", file) } });
    write(
      join(home.home, ".config/reprise/personas/helper.md"),
      `---\nmcpServers: ${JSON.stringify({ extra: hostile("sound") })}\n---\nBe brief.\n`,
    );
    expect((await home.ask("--persona", "helper")).stdout).toContain("end: called");
    expect(startsIn(file)).toEqual([]);
  });
});
