import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { startModelServer } from "../../helpers/model-server.ts";
import { freshHome, type Home } from "../../helpers/reprise.ts";
import { trustFolder } from "../../helpers/trust.ts";

const NOTES = [
  "it denies write_file, edit_file, multi_edit, apply_patch, run_command, git_commit, delegate",
  'these fields mean nothing here: "maxTurns"',
];

function withForeignPersona(home: Home): void {
  mkdirSync(join(home.project, ".claude/agents"), { recursive: true });
  writeFileSync(
    join(home.project, ".claude/agents/x.md"),
    "---\nname: x\ndescription: Looks\ndisallowedTools: Write, Edit\npermissionMode: plan\nmaxTurns: 3\n---\nLook only.\n",
  );
  writeFileSync(
    join(home.project, ".claude/agents/bad.md"),
    "---\nname: bad\npermissionMode: dontAsk\n---\nx\n",
  );
}

it("[PERSONA-5] -p, /agent and doctor show what a persona lost; what it denies is not offered", async () => {
  const server = await startModelServer({ answer: () => ({ content: "answer" }) });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  withForeignPersona(home);
  trustFolder(home.home, home.project);
  const { code, stderr } = await home.call(["-p", "hi", "--persona", "x", "--json"]);
  expect(code).toBe(0);
  expect(stderr).toBe(NOTES.map((note) => `note: persona x: ${note}\n`).join(""));
  expect(server.offeredTools()).toEqual([
    [
      "read_file",
      "list_files",
      "find_files",
      "search_files",
      "ask_user",
      "update_tasks",
      "hand_in_plan",
    ],
  ]);
  const changed = await home.call([], { input: "/agent x\n" });
  const doctor = await home.call(["doctor"]);
  for (const note of NOTES) {
    expect(changed.stderr).toContain(`note: persona x: ${note}\n`);
    expect(doctor.stdout).toContain(`.claude/agents/x.md: ${note}.`);
  }
});

it("[CLI-68] personas list and show name source, tools, notes and what cannot be used", async () => {
  const home = freshHome();
  withForeignPersona(home);
  const before = await home.call(["personas", "list"]);
  expect(before.stdout.split("\n").map((line) => line.split(" ")[0])).toEqual([
    "assistant",
    "planner",
    "reviewer",
    "",
  ]);
  expect(before.stderr).toContain(
    ".claude/agents/x.md is not used, because the folder is not trusted",
  );
  expect((await home.call(["personas", "show", "x"])).code).toBe(2);

  trustFolder(home.home, home.project);
  const [list, show] = await Promise.all([
    home.call(["personas", "list"]),
    home.call(["personas", "show", "x"]),
  ]);
  expect(list.stderr).toBe("");
  expect(list.stdout).toMatch(/^x +repository +Looks$/m);
  expect(list.stdout).toMatch(/^bad +repository +cannot be used: line 3: this permissionMode/m);
  for (const note of NOTES) {
    expect(list.stdout).toContain(`note: ${note}\n`);
    expect(show.stdout).toMatch(new RegExp(`^note +${note}$`, "m"));
  }
  expect(show.stdout).toMatch(
    /^tools +read_file, list_files, find_files, search_files, ask_user, update_tasks, hand_in_plan$/m,
  );
  expect(show.stdout).toMatch(/\n\nLook only\.\n$/);
  expect(await home.json(["personas", "show", "x", "--json"])).toMatchObject({
    name: "x",
    source: "repository",
    notes: NOTES,
    prompt: "Look only.",
  });
  expect(await home.json<unknown[]>(["personas", "list", "--json"])).toHaveLength(5);
  expect((await home.call(["personas", "show", "nobody"])).code).toBe(3);
});
