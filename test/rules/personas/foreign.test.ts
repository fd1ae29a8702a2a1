import { describe, expect, it } from "vitest";

import { loadPersona } from "../../../src/rules/personas/load.ts";
import { BUILT_IN_TOOLS } from "../../../src/rules/tools/built-in.ts";
import { personaFolders } from "../../helpers/persona-folders.ts";

const READING = ["read_file", "list_files", "find_files", "search_files"];

async function foreign(...fields: string[]) {
  const content = `---\nname: x\n${fields.join("\n")}\n---\nPrompt.\n`;
  const { places } = personaFolders({ "repo/.claude/agents/x.md": content });
  return loadPersona({ name: "x", ...places });
}

async function refusalOf(...fields: string[]): Promise<string> {
  const error: unknown = await foreign(...fields).catch((error: unknown) => error);
  expect(error, fields.join()).toMatchObject({ code: "persona_invalid" });
  return error instanceof Error ? error.message : "";
}

describe("a persona written for another program", () => {
  it.each([
    ["disallowedTools: Write, Edit"],
    ["disallowedTools: [Write, Edit]"],
    ["disallowedTools:\n  - Write\n  - Edit"],
    ["disallowedTools: Write(src/**), edit"],
    ["disallowed-tools: Write, Edit, Bash, mcp__x"],
    ["permissionMode: plan"],
    ["permissionMode: plan\ndisallowedTools: Task"],
  ])("[PERSONA-1] keeps its denial, and gives no sub-agent what it denies: %s", async (field) => {
    expect((await foreign(field)).tools).toEqual([
      ...READING,
      "ask_user",
      "update_tasks",
      "hand_in_plan",
    ]);
    expect((await foreign("tools: Read, Write, Edit", field)).tools).toEqual(["read_file"]);
  });

  it("[PERSONA-1] has the tools that it names, or all, if it denies none", async () => {
    expect((await foreign()).tools).toBeNull();
    expect((await foreign("permissionMode: acceptEdits", "disallowedTools: []")).tools).toBeNull();
    expect((await foreign("disallowedTools: '*'")).tools).toEqual([]);
    expect((await foreign("disallowedTools: Task")).tools).toEqual([
      ...READING,
      "write_file",
      "edit_file",
      "multi_edit",
      "apply_patch",
      "run_command",
      "git_commit",
      "ask_user",
      "update_tasks",
      "hand_in_plan",
    ]);
    expect(await foreign("tools: Bash, Read")).toMatchObject({
      tools: ["run_command", "read_file"],
    });
    expect((await foreign("tools: Read, AskUserQuestion")).tools).toEqual([
      "read_file",
      "ask_user",
    ]);
    expect((await foreign("disallowedTools: askUserQuestion")).tools).not.toContain("ask_user");
  });

  it("[PERSONA-2] is refused if a limit cannot be kept", async () => {
    for (const field of [
      "permissionMode: dontAsk",
      "permissionMode: nonsense",
      "permissionMode: [plan]",
      "disallowedTools: { Write: true }",
      "hooks: { PreToolUse: [] }",
      "isolation: worktree",
      "permission: { edit: deny }",
      "disallowedTools: Write\ndisallowed_tools: Edit",
    ]) {
      expect(await refusalOf(field)).toMatch(/line \d+: /);
    }
  });

  it("[PERSONA-2] is refused if its front matter is not YAML and a limit would get lost", async () => {
    const broken = "description: Use this when: it rains";
    expect((await foreign(broken, "disallowedTools: Write")).tools).not.toContain("write_file");
    for (const fields of [
      "disallowedTools:\n  - Write",
      "  disallowedTools: Write",
      "disallowedTools: Read\ndisallowedTools: Write",
      "tools:\n  - Read",
      "hooks:\n  PreToolUse: x",
    ]) {
      await refusalOf(broken, fields);
    }
  });

  it("[PERSONA-3] has a note for everything that was left out, by name", async () => {
    const { notes } = await foreign(
      "tools: Read, WebFetch, read_fiel",
      "model: opus",
      "maxTurns: 3",
      "disallowedTools: Read",
    );
    expect(notes).toEqual([
      'these of its tools do not exist here: "WebFetch", "read_fiel" (did you mean read_file?)',
      "it denies read_file",
      "its model is another program's; the session's is used",
      'these fields mean nothing here: "maxTurns"',
    ]);
  });
});

it("[PERSONA-20] a tool that is denied and unknown is named, with the nearest name", async () => {
  expect((await foreign("disallowedTools: WebFetch, Write, raed_file, mcp__x")).notes).toEqual([
    "it denies write_file, apply_patch, run_command, git_commit, delegate",
    'it denies these tools, which do not exist here: "WebFetch", "raed_file" (did you mean read_file?)',
    "it denies tools of MCP servers, so it has no tools of servers",
  ]);
  const { tools, notes } = await foreign("disallowedTools: WebFetch");
  expect(tools).toBeNull();
  expect(notes).toEqual(['it denies these tools, which do not exist here: "WebFetch"']);
  expect((await foreign("disallowedTools: Bash(rm:*)")).notes).toEqual([
    "it denies run_command, git_commit, delegate",
  ]);
});

it("[MCP-35] tools of servers have the names of Claude Code, and one that is denied goes with its sub-agents", async () => {
  const named =
    "tools: [Read, Agent, delegate, mcp__crm__look-up, mcp__crm__erase, mcp__git__push]";
  expect((await foreign(named)).tools).toEqual([
    "read_file",
    "delegate",
    "crm__look-up",
    "crm__erase",
    "git__push",
  ]);
  for (const [denied, left] of [
    ["mcp__crm__erase", ["read_file", "crm__look-up", "git__push"]],
    ["MCP__CRM__Erase", ["read_file", "crm__look-up", "git__push"]],
    ["mcp__crm", ["read_file", "git__push"]],
    ["mcp__crm__*", ["read_file", "git__push"]],
    ["mcp__*", ["read_file"]],
    ["mcp__cr", ["read_file", "crm__look-up", "crm__erase", "git__push"]],
  ] as const) {
    const { tools } = await foreign(`${named}\ndisallowedTools: ["${denied}"]`);
    expect({ denied, tools }).toEqual({ denied, tools: left });
  }
  const { tools, notes } = await foreign("disallowedTools: mcp__crm__erase");
  expect(tools).toContain("run_command");
  expect(tools?.filter((name) => name.includes("__"))).toEqual([]);
  expect(tools).not.toContain("delegate");
  expect(notes).toContain("it denies tools of MCP servers, so it has no tools of servers");
});

it("[PERSONA-21] a permissionMode that changes nothing has a note", async () => {
  for (const mode of ["bypassPermissions", "acceptEdits", "auto"]) {
    const { tools, notes } = await foreign(`permissionMode: ${mode}`);
    expect(tools).toBeNull();
    expect(notes).toEqual([`its permissionMode "${mode}" changes nothing here`]);
  }
  expect((await foreign("permissionMode: default")).notes).toEqual([]);
  expect((await foreign("permissionMode: plan")).notes).toHaveLength(1);
});

it("[PERSONA-4] an unknown tool of an own persona is named, with the nearest name", async () => {
  const content = "---\nname: x\ntools: [read_file, wirte_file]\n---\nPrompt.\n";
  const { places } = personaFolders({ "repo/.reprise/personas/x.md": content });
  await expect(loadPersona({ name: "x", ...places })).rejects.toMatchObject({
    code: "persona_invalid",
    message: expect.stringContaining('"wirte_file" (did you mean write_file?)'),
  });
});

it("[PERSONA-22] [PERMISSION-92] a persona has the tool of a server that is not here, with a note", async () => {
  const content = "---\nname: x\ntools: [read_file, github__create-issue]\n---\nPrompt.\n";
  const { places } = personaFolders({ "repo/.reprise/personas/x.md": content });
  const tools = ["read_file", "github__create-issue"];
  expect(await loadPersona({ name: "x", ...places })).toMatchObject({
    tools,
    notes: ["these of its tools are of servers that are not here: github__create-issue"],
  });
  const here = BUILT_IN_TOOLS.with([BUILT_IN_TOOLS.get("github__create-issue")]);
  expect(await loadPersona({ name: "x", ...places, tools: here })).toMatchObject({
    tools,
    notes: [],
  });
});

it.each([
  ["CRM__Look-Up", "crm__look-up"],
  ["crm__look-up", "CRM__Look-Up"],
])(
  "[PERSONA-1] a tool of the program is denied in any spelling: %s for %s",
  async (denied, tool) => {
    const content = `---\nname: x\ndisallowedTools: [${denied}]\n---\nPrompt.\n`;
    const { places } = personaFolders({ "repo/.claude/agents/x.md": content });
    const here = BUILT_IN_TOOLS.with([BUILT_IN_TOOLS.get(tool)]);
    const { tools } = await loadPersona({ name: "x", ...places, tools: here });
    expect(tools).toContain("read_file");
    expect(tools).not.toContain(tool);
  },
);
