import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Command } from "commander";
import { describe, expect, it } from "vitest";

import { commandsBelow, commandsPage } from "../../build/commands-page.ts";
import { definitions, usageOf } from "../../build/manual.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { startProcess } from "../helpers/process.ts";
import { freshHome } from "../helpers/reprise.ts";
import { CTRL_D, openTerminal } from "../helpers/terminal.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const readme = read("README.md");
const start = read("docs/start.md");
const clients = read("docs/clients.md");

function read(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}

/** The first block of code of a language under a heading of a page. */
function blockUnder(page: string, heading: string, language: string): string {
  const section = page.slice(page.indexOf(`\n## ${heading}\n`));
  return new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "s").exec(section)?.[1] ?? "";
}

it("[DOC-1] the curl lines of docs/clients.md work as they are, pasted into a shell, until the agent has answered", async () => {
  const home = freshHome();
  const [, command = ""] = /service that may work in [^`]*`reprise (.*?)`/.exec(clients) ?? [];
  expect(command).toBe('serve --repos "$PWD"');
  const service = home.startShell(`exec reprise ${command} --port 0`);
  const [, url = ""] = await service.waitFor(/listening on (http:\S+)/);
  const script = blockUnder(clients, "Over HTTP", "sh").replace("http://127.0.0.1:8787", url);
  expect(script).toContain(url);
  const options = { input: "", env: home.environment(), cwd: home.project };
  const { code, stdout, stderr } = await startProcess(
    "bash",
    ["--norc", "-euo", "pipefail", "-c", script],
    options,
  ).finished;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain('"runnable":true');
  expect(stdout).toContain('"state":"done"');
  expect(stdout).toMatch(/"role":"assistant","content":"\[demo\]/);
  expect(stdout).toContain('"content":"Hello from curl"');
  expect(stdout).toContain('"state":"ended"');
  expect(stdout).toMatch(/id: 1\nevent: message\n[^]*id: 3\nevent: message\n/);
  expect(stdout).not.toContain('"code"');
});

it("[DOC-2] the terminal session of docs/start.md appears as it is shown", async () => {
  const home = freshHome();
  const [first = "", second = ""] = [...start.matchAll(/```console\n(.*?)```/gs)].map(
    ([, text = ""]) => text,
  );
  const begun = openTerminal(home, "reprise");
  await begun.shows(/\n> $/);
  begun.type(`${typed(first)}\r`);
  await begun.shows(/\[demo\][^\0]*\n> $/);
  begun.type(CTRL_D);
  expectShown(first, (await begun.finished).screen);

  const resumed = openTerminal(home, "reprise --continue");
  await resumed.shows(/\n> $/);
  resumed.type(`${typed(second)}\r`);
  await resumed.shows(/\[demo\][^\0]*\n> $/);
  resumed.type("/exit\r");
  expectShown(second, (await resumed.finished).screen);
});

/** What a person types first in a session that the page shows. */
function typed(shown: string): string {
  return /^> (.*)$/m.exec(shown)?.[1] ?? "nothing is typed";
}

/** Every shown line is on the screen; ids and folders are others, and `…` cuts a long answer. */
function expectShown(shown: string, screen: string): void {
  const lines = shown.split("\n").filter((line) => !/^(\$ .*|…|> \^D|)$/.test(line));
  expect(lines.length).toBeGreaterThan(4);
  for (const line of lines) {
    const pattern = line
      .replace(/ …$/, "")
      .replaceAll(/[.*+?()[\]|\\^$]/g, "\\$&")
      .replace(/[0-9a-f]{8}-(?:\w{4}-){3}\w{12}/, "[0-9a-f-]{36}")
      .replace(/\/home\/.*/, "/.*");
    expect(screen).toMatch(new RegExp(`^${pattern}`, "m"));
  }
}

it("[DOC-3] docs/commands.md is what the program's commands and options are", async () => {
  expect(await commandsPage(ROOT), "run `npm run commands`").toBe(read("docs/commands.md"));
  const program = await definitions(ROOT);
  const usages = [program, ...commandsBelow(program)].map(usageOf);
  expect(usages.length).toBeGreaterThan(50);
  expect(usages.filter((usage) => !read("docs/commands.md").includes(`\`${usage}\``))).toEqual([]);
});

describe("[DOC-3] every command and option that a page names in a line exists:", () => {
  const pages = ["README.md", ...readdirSync(join(ROOT, "docs")).map((file) => `docs/${file}`)];

  it.each(pages.filter((page) => page.endsWith(".md")))("%s", async (page) => {
    const program = await definitions(ROOT);
    const prose = read(page).replaceAll(/^( *)```.*?^\1```/gms, "");
    const named = [...prose.matchAll(/`(?:npx )?reprise((?: [^`]*)?)`/g)].map(
      ([, words = ""]) => words,
    );
    expect(named.filter((words) => !isKnown(program, words.trim().split(" ")))).toEqual([]);
  });
});

/** True if the first words are a command, and each option is one of it or of the program. */
function isKnown(program: Command, words: readonly string[]): boolean {
  let command = program;
  for (const word of words.filter((each) => /^[a-z]/.test(each))) {
    const below = command.commands.find((each) => each.name() === word);
    if (below === undefined) {
      break;
    }
    command = below;
  }
  const known = [program, command].flatMap(({ options }) =>
    options.flatMap(({ short, long }) => [short, long]),
  );
  const options = words
    .filter((word) => /^--?[a-z]/.test(word))
    .map((word) => word.replace(/=.*/, ""));
  const isCommand =
    command !== program || words.join("") === "" || /^(?:-|\.|…)/.test(words[0] ?? "");
  return isCommand && options.every((option) => [...known, "--help", "-h"].includes(option));
}

it("[DOC-4] the README's commands for a real model ask that model, in one session", async () => {
  const server = await startModelServer({ answer: () => ({ content: "In tax.ts." }) });
  const home = freshHome(server.env("anthropic"));
  const script = blockUnder(readme, "With a real model", "sh");
  const { code, stdout, stderr } = await home.startShell(script.replace(/^export .*$/m, ""))
    .finished;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "In tax.ts.\nIn tax.ts.\n" });
  expect(stderr).toMatch(/^Resume with: reprise --session \S+$/m);
  expect(server.requests().map((messages) => messages.length)).toEqual([1, 3]);
});

describe("[DOC-5] the documents", () => {
  const pages = [
    ...readdirSync(ROOT).filter((file) => file.endsWith(".md")),
    ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".md"))
      .map((file) => `docs/${file}`),
    "bench/README.md",
  ];

  it.each(pages)("%s links to files and headings that exist", (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)];
    const broken = links.filter(([, file = "", anchor]) => {
      const target = file === "" ? page : join(dirname(page), file);
      return (
        !existsSync(join(ROOT, target)) ||
        (anchor !== undefined && !anchorsOf(read(target)).includes(anchor))
      );
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  it("docs/plans.md shows what the program prints", async () => {
    const home = freshHome();
    const page = read("docs/plans.md");
    const plan = blockUnder(page, "The format", "yaml");
    for (const [heading, text] of [
      ["Check a plan", plan],
      ["Look at a plan", plan.replace("[store-tag]", "[store-tags]")],
    ] as const) {
      writeFileSync(join(home.project, "plan.yaml"), text);
      const shown = blockUnder(page, heading, "console");
      const [, command = "", output = ""] = /^\$ reprise (.*)\n([^]*)$/.exec(shown) ?? [];
      const { stdout, stderr } = await home.call(command.split(" "));
      expect(stderr + stdout).toBe(output);
    }
  });
});

/** Anchors of headings, as GitHub makes them. */
function anchorsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}
