import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, it } from "vitest";

import { startModelServer } from "../helpers/model-server.ts";
import { SOUND } from "../helpers/mcp.ts";
import { freshHome } from "../helpers/reprise.ts";
import { trustFolder } from "../helpers/trust.ts";

async function openProject(files: Readonly<Record<string, string>>) {
  const server = await startModelServer({
    answer: (messages) => ({ content: `heard: ${messages.at(-1)?.content}` }),
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home.project, path)), { recursive: true });
    writeFileSync(join(home.project, path), text);
  }
  trustFolder(home.home, home.project);
  return { server, home };
}

const FILES = {
  ".claude/skills/pdf/SKILL.md": "---\nname: pdf\ndescription: Makes a PDF.\n---\nDo it.",
  ".claude/skills/bad/SKILL.md": "---\nname: bad\ndisallowed-tools: Read\n---\nDo it.",
  ".claude/commands/review.md": "---\ndescription: Reviews.\n---\nReview $1\u001b[2J carefully.",
  ".claude/commands/help.md": "Never.",
};

it("[SKILL-13] [SKILL-14] a command of the folder shows the message that it sends, and one of the program comes first", async () => {
  const { home, server } = await openProject(FILES);
  const done = await home.call([], { input: "/review 'src/a.ts' now\n/help\n/revew\n" });
  expect(done.stderr).toContain(
    ".claude/commands/review.md sends:\n| Review src/a.ts\u001b[2J carefully.\n",
  );
  expect(server.requests()[0]?.at(-1)?.content).toMatch(/^Review src\/a\.ts.* carefully\./s);
  expect(done.stderr + done.stdout).not.toContain("Never.");
  expect(server.requests()).toHaveLength(1);
});

it("[SKILL-15] [SKILL-16] /skills and doctor list what is there, and say why something is not used", async () => {
  const { home } = await openProject(FILES);
  const { stderr } = await home.call([], { input: "/skills\n" });
  expect(stderr).toContain("pdf  .claude/skills/pdf/SKILL.md\n    Makes a PDF.\n");
  expect(stderr).toContain("/review  .claude/commands/review.md\n    Reviews.\n");
  expect(stderr).toContain("not used: .claude/skills/bad: it takes tools away (disallowed-tools)");
  expect(stderr).toContain("not used: .claude/commands/help.md: /help is a command of the program");
  const doctor = await home.call(["doctor"]);
  expect(doctor.stdout).toMatch(
    /warning +skills +\.claude\/skills\/bad is not used: it takes tools away/,
  );
  expect(doctor.stdout).toMatch(/ok +skills +1 skill and 2 commands to use\./);
});

it("[MCP-82] [MCP-81] /skills lists servers, and a line of a terminal calls a prompt of one", async () => {
  const { home, server } = await openProject({});
  const config = join(home.home, ".config/reprise/config.jsonc");
  mkdirSync(dirname(config), { recursive: true });
  const mcp = { notes: SOUND, off: { ...SOUND, enabled: false } };
  writeFileSync(config, JSON.stringify({ mcp }), { mode: 0o600 });
  const { stderr } = await home.call([], { input: "/skills\n" });
  expect(stderr).toContain("/notes:  names the prompts of this MCP server");
  expect(stderr).not.toContain("/off:");
  expect(server.requests()).toEqual([]);
  const called = await home.call([], { input: "/notes:review a.ts\n" });
  expect(called.stderr).toContain("The prompt /notes:review is attached");
  expect(server.requests()[0]?.at(-1)?.content).toContain("Review a.ts for all.");
});
