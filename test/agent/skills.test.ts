import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, it } from "vitest";

import { readMessagesAfter } from "../../src/store/records/messages/read.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { statementsOf } from "../helpers/count-statements.ts";
import { openBench, SENDS_NOTHING_BY_CLOCK } from "../helpers/exchanger.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { temporaryFolder } from "../helpers/temp.ts";
import { UNTRUSTED } from "../helpers/trust.ts";

const skill = (description: string): string =>
  `---\ndescription: ${description}\n---\n\nThe way to do it.\n`;

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** A session whose model reads each path that it is sent, and a user with a folder of skills. */
async function openReading() {
  const server = await startModelServer({
    answer: (messages) => {
      const last = messages.at(-1);
      const [path] = last?.role === "user" ? last.content.split("\n", 1) : [];
      return path?.includes("/") === true
        ? { toolCalls: [{ name: "read_file", arguments: JSON.stringify({ path }) }] }
        : { content: "ok" };
    },
  });
  const config = temporaryFolder();
  const bench = await openBench(
    server,
    {},
    {
      ...SENDS_NOTHING_BY_CLOCK,
      personas: {
        userDir: join(config, "personas"),
        builtinDir: join(import.meta.dirname, "../../personas"),
        trust: { file: null, home: null, named: null, forThisRun: "all" },
      },
    },
  );
  const read = async (path: string): Promise<string> => {
    await bench.run({ text: path });
    const page = { session_id: bench.session.id, after_seq: 0, all: true, limit: 500 };
    const rows = await bench.store.read(readMessagesAfter, page);
    return rows.findLast(({ role }) => role === "tool")?.content ?? "";
  };
  const lastSent = (): string => server.requests().at(-1)?.at(-1)?.content ?? "";
  return { ...bench, server, read, lastSent, skills: join(config, "skills") };
}

it("[SKILL-7] [SKILL-8] a thread keeps its prefix, and the next message says that the skills have changed", async () => {
  const bench = await openReading();
  await bench.run({ text: "one" });
  const [first] = bench.server.systemPrompts();
  expect(first).not.toContain("Skills:");
  put(join(bench.repo, ".claude/skills/pdf/SKILL.md"), skill("Makes a PDF."));
  await bench.run({ text: "two" });
  expect(bench.lastSent()).toContain("- pdf (.claude/skills/pdf/SKILL.md): Makes a PDF.");
  await bench.run({ text: "three" });
  expect(bench.lastSent()).toBe("three");
  rmSync(join(bench.repo, ".claude"), { recursive: true });
  await bench.run({ text: "four" });
  expect(bench.lastSent()).toContain("There are no skills any more.");
  expect(new Set(bench.server.systemPrompts())).toEqual(new Set([first]));
});

it("[SKILL-9] read_file reads skills of the folder and of the user with what is beside them, and nothing else outside", async () => {
  const bench = await openReading();
  put(join(bench.repo, ".claude/skills/pdf/SKILL.md"), skill("Makes a PDF."));
  put(join(bench.skills, "mail/SKILL.md"), skill("Writes a mail."));
  put(join(bench.skills, "mail/forms/short.md"), "A short form.");
  const secret = join(temporaryFolder(), "secret.txt");
  put(secret, "a secret");
  symlinkSync(secret, join(bench.skills, "mail/link.txt"));
  expect(await bench.read(".claude/skills/pdf/SKILL.md")).toContain("The way to do it.");
  expect(await bench.read(join(bench.skills, "mail/SKILL.md"))).toContain("The way to do it.");
  expect(await bench.read(join(bench.skills, "mail/forms/short.md"))).toContain("A short form.");
  for (const path of [
    secret,
    join(bench.skills, "mail/link.txt"),
    `${bench.skills}/mail/../../other.txt`,
    `${bench.skills}/mail/forms`,
  ]) {
    expect(await bench.read(path)).toMatch(/^Error: /);
  }
});

it("[SKILL-5] the tools that a skill allows are asked about as always", async () => {
  const server = await startModelServer({
    answer: (messages) => {
      const done = messages.filter(({ role }) => role === "assistant").length;
      const [name, args] = [
        ["read_file", { path: ".claude/skills/pdf/SKILL.md" }] as const,
        ["write_file", { path: "a.txt", content: "a" }] as const,
      ][done] ?? ["", null];
      return args === null
        ? { content: "ok" }
        : { toolCalls: [{ name, arguments: JSON.stringify(args) }] };
    },
  });
  const bench = await openBench(server);
  put(
    join(bench.repo, ".claude/skills/pdf/SKILL.md"),
    "---\ndescription: Makes a PDF.\nallowed-tools: Write write_file\n---\n\nThe way to do it.\n",
  );
  const { id } = await bench.store.write(createSession, {
    repo_path: bench.repo,
    permission: "ask",
  });
  expect((await bench.run({ text: "go", session_id: id })).state).toBe("waiting");
  const sent = JSON.stringify(server.requests().at(-1));
  expect(sent).toContain("The way to do it.");
});

it("[SKILL-17] cost an exchange no statement", async () => {
  const bench = await openReading();
  await bench.run({ text: "one" });
  const without = await statementsOf(() => bench.run({ text: "two" }));
  put(join(bench.repo, ".claude/skills/pdf/SKILL.md"), skill("Makes a PDF."));
  await bench.run({ text: "three" });
  const withSkill = await statementsOf(() => bench.run({ text: "four" }));
  expect(withSkill.statements.length).toBeLessThanOrEqual(without.statements.length);
});

it("[SKILL-3] a model reads nothing of the skills of a folder that is not trusted", async () => {
  const server = await startModelServer({ answer: () => ({ content: "ok" }) });
  const bench = await openBench(
    server,
    {},
    {
      personas: {
        userDir: null,
        builtinDir: join(import.meta.dirname, "../../personas"),
        trust: UNTRUSTED,
      },
    },
  );
  put(join(bench.repo, ".claude/skills/pdf/SKILL.md"), skill("Makes a PDF."));
  await bench.run({ text: "hello" });
  expect(server.systemPrompts().join("")).not.toContain("PDF");
});
