import { symlinkSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { listPersonas } from "../../../src/rules/personas/list.ts";
import { loadPersona } from "../../../src/rules/personas/load.ts";
import { personaFolders } from "../../helpers/persona-folders.ts";

const OWN = "repo/.reprise/personas";
const persona = (fields: string, prompt = "Be good.") => `---\n${fields}\n---\n\n${prompt}\n`;

async function loadOne(content: string | Uint8Array, path = `${OWN}/x.md`) {
  const { places } = personaFolders({ [path]: content });
  return loadPersona({ name: "x", ...places });
}

async function faultOf(content: string | Uint8Array, path = `${OWN}/x.md`): Promise<string> {
  const error: unknown = await loadOne(content, path).catch((error: unknown) => error);
  expect(error).toMatchObject({ code: "persona_invalid" });
  return error instanceof Error ? error.message : "";
}

describe("loadPersona", () => {
  it("reads all fields", async () => {
    const fields =
      "name: x\ndescription: Does x\nmodel: ollama:llama3.2:3b\neffort: max\nfallback: [ollama:a, demo]\ntools: [read_file, edit_file]";
    expect(
      await loadOne(
        `\u{FEFF}${persona(fields, "Be good.\n\n---\n\nAlways.").replaceAll("\n", "\r\n")}`,
      ),
    ).toEqual({
      name: "x",
      description: "Does x",
      model: "ollama:llama3.2:3b",
      effort: "max",
      fallback: ["ollama:a", "demo"],
      tools: ["read_file", "edit_file"],
      prompt: "Be good.\n\n---\n\nAlways.",
      source: "repository",
      path: ".reprise/personas/x.md",
      notes: [],
      servers: {},
    });
  });

  it("needs no field at all, and takes tools in both ways", async () => {
    expect(await loadOne(persona(""))).toMatchObject({
      name: "x",
      description: "",
      model: null,
      tools: null,
    });
    expect(await loadOne(persona("tools: read_file, list_files"))).toMatchObject({
      tools: ["read_file", "list_files"],
    });
    expect(await loadOne(persona("tools: []"))).toMatchObject({ tools: [] });
  });

  it("searches the repository first, then the user's folder, then the built-in ones", async () => {
    const all = [
      `${OWN}/x.md`,
      "repo/.claude/agents/x.md",
      "repo/.agents/agents/x.md",
      "user/x.md",
      "builtin/x.md",
    ];
    for (let left = all; left.length > 0; left = left.slice(1)) {
      const files = Object.fromEntries(left.map((path) => [path, persona(`description: ${path}`)]));
      const { places } = personaFolders(files);
      expect(await loadPersona({ name: "x", ...places })).toMatchObject({ description: left[0] });
    }
  });

  it("finds the built-in ones without a repository and a user's folder", async () => {
    const { places } = personaFolders({
      "builtin/x.md": persona(""),
      [`${OWN}/y.md`]: persona(""),
    });
    const found = await listPersonas({ ...places, repoPath: null, userDir: null });
    expect(found.map(({ name }) => name)).toEqual(["x"]);
  });

  it.each(["../secret", "/etc/passwd", "x/../y", "", ".", "..", "x\0", "X", "y", "x.md"])(
    "never makes a path of the name %j",
    async (name) => {
      const { places } = personaFolders({
        [`${OWN}/x.md`]: persona(""),
        "secret.md": persona(""),
        "repo/.reprise/secret.md": persona(""),
      });
      await expect(loadPersona({ name, ...places })).rejects.toMatchObject({
        code: "persona_not_found",
        message: "No persona has this name. There are x.",
      });
    },
  );

  it.each([
    ["no front matter", "Be good.", /line 1: .*must begin with a line ---/],
    ["an open front matter", "---\nname: x\n", /line 1: .*not closed/],
    ["no YAML", "---\nname: x\ntools: [read_file\n---\nx", /line \d: this is not YAML/],
    ["a doubled field", persona("name: x\nname: y"), /line \d: this is not YAML/],
    ["a list", persona("- name"), /line 2: .*lines of name: value/],
    [
      "an unknown field",
      persona("name: x\ntool: read_file"),
      /line 3: only name, description, model, effort, fallback, tools/,
    ],
    [
      "an unknown tool",
      persona("name: x\ndescription: d\ntools: [read_fiel]"),
      /line 4: "\w+"( \(did you mean \w+\?\))? is not a tool; the tools are read_file,/,
    ],
    ["tools without value", persona("tools:"), /line 2: tools must be a list; write \[\] for none/],
    ["tools that are a map", persona("tools: {read_file: true}"), /line 2: tools must be a list/],
    ["a model without provider", persona("model: gpt-5"), /line 2: .*provider:model/],
    ["a fallback without provider", persona("fallback: [gpt-5]"), /line 2: .*provider:model/],
    [
      "a fallback that is named twice",
      persona("fallback: [demo, ollama:a, demo]"),
      /line 2: fallback names a model twice/,
    ],
    ["a name that is a number", persona("name: 7"), /line 2: name must be text/],
    ["a name that is a path", persona("name: ../x"), /up to 64 letters/],
    ["an empty prompt", persona("name: x", " \n "), /the prompt is empty/],
    ["a NUL", persona("", "a\0b"), /NUL/],
    ["an alias", persona("description: &a d\nname: *a"), /line 3: aliases|not YAML|must be text/],
    ["a thousand brackets", persona(`name: ${"[".repeat(50_000)}`), /line \d: /],
    ["too much", persona("", "x".repeat(300_000)), /over 256 KB/],
    [
      "Latin-1",
      Buffer.concat([Buffer.from("---\n---\nok\ncaf"), Buffer.from([0xe9, 0x0a])]),
      /line 4: this is not UTF-8/,
    ],
  ])("reports what is wrong with %s", async (_, content, fault) => {
    const found = await faultOf(content);
    expect(found).toMatch(/^The persona in \.reprise\/personas\/x\.md cannot be used: .*\.$/s);
    expect(found).toMatch(fault);
    expect(found).not.toContain("\n");
  });
});

describe("a persona file for another program", () => {
  const FOREIGN = "repo/.claude/agents/x.md";

  it("has its tools translated and the rest left out with a note", async () => {
    const fields =
      "name: x\ncolor: red\nmodel: sonnet\ntools: Read, Grep, Glob, LS, Edit, MultiEdit, WebSearch, WebFetch";
    expect(await loadOne(persona(fields), FOREIGN)).toMatchObject({
      model: null,
      tools: ["read_file", "search_files", "find_files", "list_files", "edit_file"],
      notes: [
        'these of its tools do not exist here: "WebSearch", "WebFetch"',
        "its model is another program's; the session's is used",
      ],
    });
  });

  it.each([
    ["tools: WebFetch", []],
    ["tools: Bash", ["run_command"]],
    ["tools: toString, constructor", []],
    ["tools: Read(src/**)", []],
    ["tools: {}", []],
    ["tools: '*'", null],
    ["model: inherit", null],
    ["tools: [Write]", ["write_file"]],
  ])("with %s gets %j", async (fields, tools) => {
    expect(await loadOne(persona(fields), FOREIGN)).toMatchObject({ tools, model: null });
  });

  it("is read line by line if it is not quite YAML", async () => {
    const fields =
      'name: x\ndescription: Use this when: a) it is late, b) "it" rains\ntools: "Read, WebFetch"';
    expect(await loadOne(persona(fields), FOREIGN)).toMatchObject({
      description: 'Use this when: a) it is late, b) "it" rains',
      tools: ["read_file"],
    });
    expect(await faultOf(persona("{:"), FOREIGN)).toMatch(/not YAML/);
  });

  it("is found by the name in it", async () => {
    const { places } = personaFolders({ "repo/.claude/agents/other.md": persona("name: x") });
    expect(await loadPersona({ name: "x", ...places })).toMatchObject({
      path: ".claude/agents/other.md",
    });
  });
});

describe("listPersonas", () => {
  it("lists broken files with their errors beside the good ones, and each name once", async () => {
    const { places } = personaFolders({
      [`${OWN}/bad.md`]: "nothing",
      [`${OWN}/good.md`]: persona("description: mine"),
      [`${OWN}/README.md`]: "about personas",
      [`${OWN}/notes.txt`]: "x",
      "builtin/good.md": persona("description: theirs"),
      "builtin/zeta.md": persona(""),
    });
    expect(await listPersonas(places)).toEqual([
      expect.objectContaining({
        name: "bad",
        path: ".reprise/personas/bad.md",
        fault: expect.stringMatching(/^line 1/),
      }),
      expect.objectContaining({ name: "good", description: "mine" }),
      expect.objectContaining({ name: "zeta", source: "built-in" }),
    ]);
    await expect(loadPersona({ name: "none", ...places })).rejects.toThrow("There are good, zeta.");
  });

  it("follows links of the user's own, but none out of a repository", async () => {
    const { root, places } = personaFolders({
      "far/x.md": persona("name: far"),
      [`${OWN}/in.md`]: persona(""),
    });
    symlinkSync(join(root, "far/x.md"), join(root, "user/far.md"));
    symlinkSync(join(root, "far/x.md"), join(root, OWN, "out.md"));
    symlinkSync("in.md", join(root, OWN, "inner.md"));
    symlinkSync("nowhere.md", join(root, OWN, "lost.md"));
    symlinkSync(join(root, "far"), join(root, "repo/.claude"));
    execFileSync("mkfifo", [join(root, OWN, "pipe.md")]);
    const found = await listPersonas(places);
    expect(
      Object.fromEntries(found.map((entry) => [entry.name, "fault" in entry ? entry.fault : "ok"])),
    ).toEqual({
      far: "ok",
      in: "ok",
      inner: "ok",
      lost: expect.stringContaining("broken link"),
      out: expect.stringContaining("leads out of the repository"),
      pipe: expect.stringContaining("not a file"),
    });
  });
});
