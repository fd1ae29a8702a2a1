import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getuid } from "node:process";

import { describe, expect, it } from "vitest";

import { readMcpFile } from "../../../src/rules/servers/mcp-file.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

function folderWith(content: unknown): string {
  const folder = temporaryFolder();
  const text = typeof content === "string" ? content : JSON.stringify(content);
  writeFileSync(join(folder, ".mcp.json"), text);
  return folder;
}

const read = (mcpServers: unknown) => readMcpFile(folderWith({ mcpServers }));
const GOOD = { command: "x" };

describe(".mcp.json", () => {
  it("[MCP-30] names programs and addresses in the form of Claude Code", async () => {
    const { entries, problems } = await read({
      a: { command: "npx", args: ["-y", "a"], env: { ROOT: "${HOME:-/}" }, timeout: 5 },
      b: { type: "stdio", command: "b" },
      c: { type: "http", url: "https://x.example/mcp", headers: { Authorization: "Bearer ${T}" } },
      d: { url: "${BASE:-https://y.example}/mcp" },
    });
    expect(problems).toEqual([]);
    expect(Object.values(entries).map(({ place }) => place)).toEqual([
      { kind: "program", command: "npx", args: ["-y", "a"], env: { ROOT: "${HOME:-/}" } },
      { kind: "program", command: "b", args: [], env: {} },
      {
        kind: "address",
        url: "https://x.example/mcp",
        headers: { Authorization: "Bearer ${T}" },
      },
      { kind: "address", url: "${BASE:-https://y.example}/mcp", headers: {} },
    ]);
    expect(Object.values(entries).every(({ from }) => from === ".mcp.json")).toBe(true);
  });

  it.each<readonly [server: unknown, reason: string]>([
    [[], "it must be an object"],
    ["npx", "it must be an object"],
    [{}, "it needs a command or a url"],
    [{ command: "x", url: "https://x" }, "give one of them"],
    [{ command: 5 }, "its command must be a text"],
    [{ command: " " }, "its command must be a text"],
    [{ command: "x".repeat(5000) }, "its command must be a text"],
    [{ command: "a\0b" }, "its command must be a text"],
    [{ command: "x", args: "a b" }, "its args must be a list"],
    [{ command: "x", args: [1] }, "its args must be a list"],
    [{ command: "x", args: Array.from({ length: 300 }, () => "a") }, "its args must be a list"],
    [{ command: "x", args: ["a".repeat(4000), "b".repeat(4000), "c".repeat(400)] }, "too long"],
    [{ command: "x", env: { "A B": "c" } }, "its env must be an object"],
    [{ command: "x", env: { A: 1 } }, "its env must be an object"],
    [{ command: "x", env: ["A=1"] }, "its env must be an object"],
    [{ url: "https://x", headers: { A: "b\r\nC: d" } }, "its headers must be an object"],
    [{ url: "https://x", headers: { "A: b": "c" } }, "its headers must be an object"],
    [{ url: "file:///etc/passwd" }, "its url must be an address"],
    [{ url: "javascript:x" }, "its url must be an address"],
    [{ type: "sse", url: "https://x" }, "the type sse is not spoken any more"],
    [{ type: "ws", url: "https://x" }, "its type is not stdio or http"],
    [{ type: { a: 1 }, command: "x" }, "its type is not stdio or http"],
  ])("[MCP-33] costs a server that is %j", async (server, reason) => {
    const { entries, problems } = await read({ bad: server, good: GOOD });
    expect(Object.keys(entries)).toEqual(["good"]);
    expect(problems).toEqual([expect.stringContaining(reason)]);
    expect(problems[0]).toMatch(/^In \.mcp\.json, the server "bad" is not used: .*\.$/);
  });

  it.each([
    "",
    "a b",
    "a__b",
    "__proto__",
    "../../x",
    "x".repeat(33),
    "\u001b[2Jred",
    "a\nb",
    "ünı",
  ])("[MCP-33] refuses the name %j without showing what a terminal obeys", async (name) => {
    const text = `{"mcpServers":{${JSON.stringify(name)}:{"command":"x"},"good":{"command":"x"}}}`;
    const { entries, problems } = await readMcpFile(folderWith(text));
    expect(Object.keys(entries)).toEqual(["good"]);
    expect(problems).toHaveLength(1);
    // oxlint-disable-next-line no-control-regex -- none may be there
    expect(problems[0]).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
  });

  it.each<readonly [content: unknown, reason: string]>([
    ["", "it is not JSON"],
    ["{", "it is not JSON"],
    ["[".repeat(200_000), "it is not JSON"],
    ["null", "it has no mcpServers"],
    [[], "it has no mcpServers"],
    [{ servers: {} }, "it has no mcpServers"],
    [JSON.stringify({ mcpServers: { a: GOOD }, x: "y".repeat(300_000) }), "larger than 256 KiB"],
  ])("[MCP-33] is not used if it is %.20j", async (content, reason) => {
    const { entries, problems } = await readMcpFile(folderWith(content));
    expect(entries).toEqual({});
    expect(problems).toEqual([expect.stringContaining(reason)]);
  });

  it("[MCP-33] bounds servers and sentences", async () => {
    const many = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`s${at}`, GOOD]));
    const { entries, problems } = await read(many);
    expect(Object.keys(entries)).toHaveLength(50);
    expect(problems).toEqual([expect.stringContaining("more than 50 servers")]);
    const bad = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`s${at}`, 1]));
    expect((await read(bad)).problems).toHaveLength(5);
    expect((await read(null)).problems).toEqual([
      expect.stringContaining("mcpServers must be an object"),
    ]);
  });

  it("[MCP-33] is not used if it is a link out of the folder, a folder or a pipe", async () => {
    const outside = join(temporaryFolder(), "secret.json");
    writeFileSync(outside, JSON.stringify({ mcpServers: { a: GOOD } }));
    const linked = temporaryFolder();
    symlinkSync(outside, join(linked, ".mcp.json"));
    expect(await readMcpFile(linked)).toEqual({
      entries: {},
      problems: [".mcp.json is not used: it leads out of the folder."],
    });
    const folder = temporaryFolder();
    mkdirSync(join(folder, ".mcp.json"));
    expect((await readMcpFile(folder)).problems).toEqual([
      ".mcp.json is not used: it is not a file.",
    ]);
    expect(await readMcpFile(temporaryFolder())).toEqual({ entries: {}, problems: [] });
  });

  it.skipIf(getuid?.() === 0)("[MCP-33] is not used if it cannot be read", async () => {
    const folder = folderWith({ mcpServers: { a: GOOD } });
    chmodSync(join(folder, ".mcp.json"), 0);
    expect((await readMcpFile(folder)).problems).toEqual([
      ".mcp.json is not used: it cannot be read.",
    ]);
  });
});
