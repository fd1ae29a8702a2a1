import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { freshHome } from "../helpers/reprise.ts";
import { SOUND } from "../helpers/mcp.ts";

function open(text?: string) {
  const home = freshHome();
  const file = join(home.project, ".mcp.json");
  if (text !== undefined) {
    writeFileSync(file, text);
  }
  return { ...home, file, text: () => readFileSync(file, "utf8") };
}

const program = [String(SOUND["command"]), ...(SOUND["args"] as string[])];

describe("mcp add --project", () => {
  it("[MCP-93] writes the form of others, and the server is used once it was seen", async () => {
    const home = open();
    const added = await home.call(["mcp", "add", "files", "--project", "--", ...program]);
    expect(added).toMatchObject({ code: 0, stdout: "added  files\n" });
    expect(added.stderr).toContain("`reprise trust add`");
    expect(JSON.parse(home.text())).toEqual({
      mcpServers: { files: { command: program[0], args: program.slice(1) } },
    });
    // writing it trusts nothing
    expect((await home.call(["mcp", "check"])).stdout).not.toContain("files__echo");
    await home.call(["trust", "add"]);
    expect((await home.call(["mcp", "check"])).stdout).toContain("files__");
    expect((await home.call(["mcp", "list"])).stdout).toMatch(/^files .*\.mcp\.json/m);
    expect(readdirSync(home.project)).toEqual([".mcp.json"]);
    expect(existsSync(join(home.home, ".config/reprise/config.jsonc"))).toBe(false);
  });

  it("[MCP-93] names an address with its type, and warns of secrets that others would read", async () => {
    const home = open();
    const place = ["--url", "https://x.example/mcp"];
    const headers = [
      "--header",
      "Authorization: Bearer very-secret",
      "--header",
      "X-Api-Key: ${KEY}",
    ];
    const { stderr } = await home.call([
      "mcp",
      "add",
      "tracker",
      "--project",
      ...place,
      ...headers,
    ]);
    expect(stderr).toContain("The value of Authorization is in that file");
    expect(stderr).not.toMatch(/very-secret|X-Api-Key/);
    expect(JSON.parse(home.text())).toEqual({
      mcpServers: {
        tracker: {
          type: "http",
          url: "https://x.example/mcp",
          headers: { Authorization: "Bearer very-secret", "X-Api-Key": "${KEY}" },
        },
      },
    });
  });

  it("[MCP-93] changes nothing else in the file, and removes what it has added", async () => {
    const text =
      '\u{FEFF}{\r\n\t"other": 1e400,\r\n\t"mcpServers": {"a": {"command": "x"}}\r\n}\r\n';
    const home = open(text);
    expect((await home.call(["mcp", "add", "b", "--project", "--", "y"])).code).toBe(0);
    expect(home.text()).toContain('"other": 1e400,\r\n');
    expect(home.text().startsWith("\u{FEFF}{\r\n\t")).toBe(true);
    expect(JSON.parse(home.text().slice(1))).toMatchObject({
      mcpServers: { a: { command: "x" }, b: { command: "y" } },
    });
    const again = await home.call(["mcp", "add", "b", "--project", "--", "z"]);
    expect(again).toMatchObject({ code: 2, stdout: "" });
    expect(again.stderr).toContain("There is a server of this name in .mcp.json.");
    expect((await home.call(["mcp", "remove", "a", "--project"])).code).toBe(0);
    expect((await home.call(["mcp", "remove", "b", "--project"])).code).toBe(0);
    expect(JSON.parse(home.text().slice(1))).toMatchObject({ mcpServers: {} });
    expect(home.text()).toContain("1e400");
    const gone = await home.call(["mcp", "remove", "b", "--project"]);
    expect(gone).toMatchObject({ code: 2 });
    expect(gone.stderr).toContain("There is no server in .mcp.json of this folder.");
  });

  it("[MCP-93] keeps what cannot be changed, with a sentence", async () => {
    const add = ["mcp", "add", "a", "--project", "--", "x"];
    for (const [text, sentence] of [
      ["{ // comment\n}", "it is not JSON"],
      ["[]", "it has no object mcpServers"],
      ['{"mcpServers": []}', "it has no object mcpServers"],
      [`{"x": "${"x".repeat(256 * 1024)}"}`, "it is larger than 256 KiB"],
    ] as const) {
      const home = open(text);
      const { code, stderr } = await home.call(add);
      expect({ code, isSaid: stderr.includes(sentence) }).toEqual({ code: 2, isSaid: true });
      expect(home.text()).toBe(text);
    }
    const home = open();
    const outside = join(home.home, "outside.json");
    writeFileSync(outside, "{}");
    symlinkSync(outside, home.file);
    expect((await home.call(add)).stderr).toContain("it leads out of the folder");
    expect(readFileSync(outside, "utf8")).toBe("{}");
    for (const [name, sentence] of [
      ["a__b", "a name has 1 to 32"],
      ["__proto__", "a name has 1 to 32"],
    ]) {
      const other = open();
      const { code, stderr } = await other.call(["mcp", "add", name ?? "", "--project", "--", "x"]);
      expect({ code, isSaid: stderr.includes(sentence ?? "") }).toEqual({ code: 2, isSaid: true });
      expect(existsSync(other.file)).toBe(false);
    }
    const wide = await home.call(add, { cwd: home.home });
    expect(wide.code).toBe(2);
    expect(wide.stderr).toContain("Go to the folder of a project.");
  });
});
