import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { HumanMessage } from "@langchain/core/messages";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";

import { modelConfig } from "../../../src/rules/models/config.ts";
import { openModel } from "../../../src/agent/models/open.ts";
import { BUILT_IN_TOOLS } from "../../../src/rules/tools/built-in.ts";
import { sessionTools } from "../../../src/agent/tools/session-tools.ts";
import { KnownFiles } from "../../../src/agent/known-files.ts";
import { callsAsModel } from "../../helpers/reading-first.ts";
import { PERMITTED } from "../../helpers/permit.ts";
import { startProvider } from "../../helpers/providers/start.ts";
import { call, text } from "../../helpers/providers/steps.ts";
import { toolBox } from "../../helpers/tool-box.ts";

describe("sessionTools", () => {
  it("gives no tools without a repository, and all with one", () => {
    const names = (repoPath: string | null) =>
      sessionTools({ repoPath, protectedPaths: [], ...PERMITTED }).map(({ name }) => name);
    expect(names(null)).toEqual([]);
    expect(names("/")).toEqual(
      [...BUILT_IN_TOOLS].filter(({ about }) => about === "files").map(({ name }) => name),
    );
  });

  it("gives an agent tools whose wrong calls are answered and do not throw", async () => {
    const box = toolBox({ "a.txt": "alpha" });
    const paths = [7, "../x", "a.txt"];
    await using provider = await startProvider("openai", (index) =>
      index < paths.length ? [call("read_file", { path: paths[index] })] : [text("done")],
    );
    const config = modelConfig({ OPENAI_BASE_URL: `${provider.url}/v1` });
    const agent = createAgent({
      model: await openModel({ name: "openai:x", config }),
      tools: sessionTools({ repoPath: box.repo, protectedPaths: [], ...PERMITTED }),
    });
    const { messages } = await agent.invoke({ messages: [new HumanMessage("look")] });
    const answers = messages.filter(({ type }) => type === "tool").map(({ text }) => text);
    expect(answers).toEqual([
      expect.stringContaining("path"),
      expect.stringMatching(/^Error: a path must not contain \.\./),
      "1\talpha",
    ]);
    expect(messages.at(-1)?.text).toBe("done");
    expect(provider.refusals()).toEqual([]);
  });
});

it("[PERMISSION-10] replace no file that changes after the check", async () => {
  const box = toolBox({ "a.txt": "old" });
  const path = join(box.repo, "a.txt");
  let isChanging = false;
  const permit = async (): Promise<void> =>
    isChanging ? writeFileSync(path, "a person's") : undefined;
  const known = new KnownFiles();
  const options = { ...PERMITTED, repoPath: box.repo, protectedPaths: [], permit, known };
  const call = callsAsModel(sessionTools(options), known);
  const refused = /^Error: file_changed: a\.txt changed since you read it/;
  await call("read_file", { path: "a.txt" });
  isChanging = true;
  expect(await call("write_file", { path: "a.txt", content: "new" })).toMatch(refused);
  writeFileSync(path, "old");
  const edit = { path: "a.txt", old_text: "old", new_text: "new" };
  expect(await call("edit_file", edit)).toMatch(refused);
  rmSync(path);
  expect(await call("write_file", { path: "a.txt", content: "new" })).toMatch(refused);
  expect(readFileSync(path, "utf8")).toBe("a person's");
  expect(readdirSync(box.repo)).toEqual(["a.txt"]);
});

describe("read_file", () => {
  const thousands = Array.from({ length: 5000 }, (_, index) => `line ${index + 1}`).join("\n");

  it("numbers lines and says where to read on", async () => {
    const { call } = toolBox({ "long.txt": thousands });
    const first = await call("read_file", { path: "long.txt" });
    expect(first.split("\n")).toHaveLength(2001);
    expect(first).toMatch(/\n2000\tline 2000\n\(more lines follow; read on with offset 2001\)$/);
    expect(await call("read_file", { path: "long.txt", offset: 4999, limit: 2000 })).toBe(
      "4999\tline 4999\n5000\tline 5000",
    );
    expect(await call("read_file", { path: "long.txt", offset: 7, limit: 1 })).toBe(
      "7\tline 7\n(more lines follow; read on with offset 8)",
    );
    expect(await call("read_file", { path: "long.txt", offset: 6000 })).toMatch(/^Error: .*fewer/);
  });

  it("limits its answer, and every line", async () => {
    const { call } = toolBox({
      "wide.txt": `${"é".repeat(3_000_000)}\nshort`,
      "many.txt": `${"x".repeat(1999)}\n`.repeat(500),
      "pair.txt": `${"x".repeat(1999)}😀tail`,
    });
    const wide = await call("read_file", { path: "wide.txt" });
    expect(wide.length).toBeLessThan(2100);
    expect(wide).toMatch(/é… \(line cut\)\n2\tshort$/);
    const many = await call("read_file", { path: "many.txt" });
    expect(Buffer.byteLength(many)).toBeLessThan(100_100);
    expect(many).toMatch(/read on with offset 50\)$/);
    expect((await call("read_file", { path: "pair.txt" })).isWellFormed()).toBe(true);
  });

  it("recognises binary and empty files, and answers only what can be stored", async () => {
    const late = Buffer.concat([Buffer.from("x\n".repeat(6000)), Buffer.from([0, 0xff])]);
    const { call } = toolBox({
      "b.bin": Buffer.from([1, 0, 2]),
      "e.txt": "",
      "late.txt": late,
      "crlf.txt": "a\r\nb\r\n",
    });
    expect(await call("read_file", { path: "b.bin" })).toBe(
      "(a binary file of 3 bytes; not shown)",
    );
    expect(await call("read_file", { path: "e.txt" })).toBe("(the file is empty)");
    expect(await call("read_file", { path: "late.txt", offset: 6001 })).toBe(
      "6001\t\u{FFFD}\u{FFFD}",
    );
    expect(await call("read_file", { path: "crlf.txt" })).toBe("1\ta\n2\tb");
    expect(await call("read_file", { path: "none" })).toMatch(/^Error: there is no such file/);
    expect(await call("read_file", { path: "." })).toMatch(/^Error: this is a folder/);
  });
});

describe("list_files, find_files and search_files", () => {
  const files = {
    "src/a.ts": "const alpha = 1;\nconst Beta = 2;",
    "src/deep/b.ts": "alpha again",
    "readme.md": "Alpha",
    "node_modules/x/index.js": "alpha",
    "data.bin": Buffer.from("alpha\0"),
  };

  it("list names", async () => {
    const { call, repo } = toolBox(files);
    mkdirSync(join(repo, ".git"));
    expect(await call("list_files", {})).toBe("data.bin\nnode_modules/\nreadme.md\nsrc/");
    expect(await call("list_files", { path: "src" })).toBe("a.ts\ndeep/");
    expect(await call("list_files", { path: "readme.md" })).toMatch(/^Error: this is not a folder/);
  });

  it.each([
    ["*.ts", "src/a.ts\nsrc/deep/b.ts"],
    ["src/*.ts", "src/a.ts"],
    ["/src/**/b.ts", "src/deep/b.ts"],
    ["**/*.{md,ts}", "readme.md\nsrc/a.ts\nsrc/deep/b.ts"],
    ["nothing", "(no file matches)"],
  ])("find %s", async (pattern, found) => {
    expect(await toolBox(files).call("find_files", { pattern })).toBe(found);
  });

  it.each([
    "",
    "*".repeat(300),
    "*a".repeat(9),
    "{a,b}".repeat(4),
    "{1..99999999}",
    "+(a|aa)b",
    "?(x)",
  ])("refuse the pattern %j, which could run forever", async (pattern) => {
    const { call } = toolBox(files);
    expect(await call("find_files", { pattern })).toMatch(/^Error: /);
    expect(await call("search_files", { text: "alpha", files: pattern })).toMatch(/^Error: /);
  });

  it("search for text, not for patterns", async () => {
    const { call } = toolBox({ ...files, "odd.txt": "a.pha (x" });
    expect(await call("search_files", { text: "alpha" })).toBe(
      "src/a.ts:1: const alpha = 1;\nsrc/deep/b.ts:1: alpha again",
    );
    expect(await call("search_files", { text: "ALPHA", ignore_case: true, files: "*.md" })).toBe(
      "readme.md:1: Alpha",
    );
    expect(await call("search_files", { text: "a.pha (x" })).toBe("odd.txt:1: a.pha (x");
    expect(await call("search_files", { text: "alpha", path: "node_modules/x" })).toBe(
      "node_modules/x/index.js:1: alpha",
    );
    expect(await call("search_files", { text: "" })).toMatch(/^Error: /);
  });

  it("stop at a limit and say so", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 1005 }, (_, index) => [`f${index}`, "hit"]),
    );
    const { call } = toolBox({ ...many, big: "hit".repeat(1_000_000) });
    expect(await call("find_files", { pattern: "f*" })).toMatch(/\(more than 1000 files match/);
    expect((await call("search_files", { text: "hit" })).split("\n")).toHaveLength(202);
    expect(await call("list_files", {})).toMatch(/\(and 6 more\)$/);
  });
});

describe("write_file and edit_file", () => {
  it("create and replace files and leave nothing else behind", async () => {
    const { call, repo } = toolBox();
    expect(await call("write_file", { path: "new/a.sh", content: "é" })).toBe(
      "created new/a.sh (2 bytes)",
    );
    chmodSync(join(repo, "new/a.sh"), 0o755);
    expect(await call("write_file", { path: "new/a.sh", content: "" })).toBe(
      "replaced new/a.sh (0 bytes)",
    );
    expect(statSync(join(repo, "new/a.sh")).mode & 0o777).toBe(0o755);
    expect(readdirSync(join(repo, "new"))).toEqual(["a.sh"]);
    expect(await call("write_file", { path: "new", content: "" })).toMatch(/^Error: only a file/);
    expect(await call("write_file", { path: ".", content: "" })).toMatch(/^Error: only a file/);
  });

  it("replace a text that occurs once, or everywhere if asked", async () => {
    const { call, repo } = toolBox({ "a.txt": "one two one" });
    const edit = (args: object) => call("edit_file", { path: "a.txt", ...args });
    expect(await edit({ old_text: "one", new_text: "1" })).toMatch(
      /^Error: old_text occurs 2 times/,
    );
    expect(await edit({ old_text: "three", new_text: "3" })).toMatch(/^Error: old_text is not in/);
    expect(await edit({ old_text: "", new_text: "x" })).toMatch(/^Error: /);
    expect(await edit({ old_text: "two", new_text: "$& $1" })).toBe("edited a.txt (1 place)");
    expect(await edit({ old_text: "one", new_text: "1", replace_all: true })).toBe(
      "edited a.txt (2 places)",
    );
    expect(readFileSync(join(repo, "a.txt"), "utf8")).toBe("1 $& $1 1");
  });

  it("keep line endings and a byte order mark, and change no file that is not UTF-8", async () => {
    const latin = Buffer.from([0x63, 0x61, 0x66, 0xe9]);
    const { call, repo } = toolBox({ "crlf.txt": "\u{FEFF}a\r\nb\r\nc\r\n", "latin.txt": latin });
    await call("edit_file", { path: "crlf.txt", old_text: "a\nb", new_text: "x\ny" });
    expect(readFileSync(join(repo, "crlf.txt"), "utf8")).toBe("\u{FEFF}x\r\ny\r\nc\r\n");
    expect(
      await call("edit_file", { path: "latin.txt", old_text: "caf", new_text: "tea" }),
    ).toMatch(/^Error: the file is not UTF-8/);
    expect(readFileSync(join(repo, "latin.txt"))).toEqual(latin);
  });

  it("lose no edit when many run at once", async () => {
    const { call, repo } = toolBox({ "a.txt": "0 1 2 3 4 5 6 7 8 9" });
    const edits = Array.from({ length: 10 }, (_, digit) =>
      call("edit_file", {
        path: "a.txt",
        old_text: String(digit),
        new_text: `<${"x".repeat(digit)}>`,
      }),
    );
    await Promise.all(edits);
    const expected = Array.from({ length: 10 }, (_, digit) => `<${"x".repeat(digit)}>`).join(" ");
    expect(readFileSync(join(repo, "a.txt"), "utf8")).toBe(expected);
  });
});
