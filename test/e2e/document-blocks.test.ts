import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

import { createClient } from "../../src/client/client.ts";
import { placeHistory } from "../helpers/foreign-histories.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { sessionsOf } from "../helpers/sessions/seed.ts";
import { openScreen } from "../helpers/screen.ts";
import { testSize } from "../helpers/size.ts";
import { CTRL_D, openTerminal } from "../helpers/terminal.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SHOWN = /^(?:sh|bash|shell|http|console)$/;
const CLIENT = new URL("../../src/entries/client.ts", import.meta.url).href;

interface Block {
  /** The page, the heading above it, and the number of the block below that heading. */
  readonly name: string;
  readonly text: string;
}

/** What a person can paste, or is shown as pasted. */
function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  let heading = "";
  let below = 0;
  const parts = /^#+ (.*)$|^```(\w*)\n([^]*?)^```$/gm;
  for (const [, title, language = "", text = ""] of readFileSync(join(ROOT, page), "utf8").matchAll(
    parts,
  )) {
    if (title !== undefined) {
      [heading, below] = [title, 0];
    } else if (SHOWN.test(language)) {
      below += 1;
      blocks.push({ name: `${page}, ${heading}, ${below}`, text });
    }
  }
  return blocks;
}

const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...readdirSync(join(ROOT, "docs"))
    .filter((file) => file.endsWith(".md"))
    .map((file) => `docs/${file}`),
];
const blocks = pages.flatMap(blocksOf);

/** Runs a block in a shell, and returns what it printed; it must end with 0 and print no error. */
async function pasted(home: Home, text: string): Promise<string> {
  const { code, stdout, stderr } = await home.startShell(`set -e\n${text}`, { input: "" }).finished;
  expect({ code, error: /^reprise: .*/m.exec(stderr)?.[0] }).toEqual({ code: 0, error: undefined });
  return stdout + stderr;
}

function write(home: Home, path: string, text: string): void {
  mkdirSync(dirname(join(home.project, path)), { recursive: true });
  writeFileSync(join(home.project, path), text);
}

/** A home with a session whose agent has changed `src/main.ts` in three exchanges; its id begins as in the pages. */
async function changed(): Promise<Home> {
  const server = await startModelServer({
    answer: (messages) => {
      const { role, content = "" } = messages.at(-1) ?? { role: "" };
      const call = { path: "src/main.ts", content };
      return role === "user"
        ? { toolCalls: [{ name: "write_file", arguments: JSON.stringify(call) }] }
        : { content: "Done." };
    },
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  const id = ["--session", "5841d4bf-a5fc-4b67-bf9b-bade08265b42", "--permission", "edits"];
  for (const text of ["one", "two", "three"]) {
    expect(await home.call([...id, "-p", text])).toMatchObject({ code: 0 });
  }
  return home;
}

interface Call {
  readonly name: string;
  readonly args: object;
}

/** A home whose model makes these calls, one in each answer, and is done. */
async function calling(...calls: readonly Call[]): Promise<Home> {
  const server = await startModelServer({
    answer: (messages) => {
      const call = calls[messages.filter(({ role }) => role === "tool").length];
      return call === undefined
        ? { content: "Done." }
        : { toolCalls: [{ name: call.name, arguments: JSON.stringify(call.args) }] };
    },
  });
  return freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
}

const WRITE_NEW: Call = { name: "write_file", args: { path: "docs/new.md", content: "new\n" } };

/** Expects the lines of a page in the question of a terminal about a change of a file that the model has read. */
async function expectQuestion(edit: Call, text: string): Promise<void> {
  const home = await calling({ name: "read_file", args: { path: "a.txt" } }, edit);
  write(home, "a.txt", "one\n");
  const terminal = openTerminal(home, "reprise");
  await terminal.shows(/\n> $/);
  terminal.type("go\r");
  const [shown] = await terminal.shows(/The agent asks:[^]*answer> $/);
  for (const line of text.trim().split("\n")) {
    expect(shown).toContain(line);
  }
}

/** A text with any numbers in place of those of a page, which other runs have. */
function withAnyNumbers(text: string): RegExp {
  return new RegExp(text.replaceAll(/[.*+?()[\]|\\^$]/g, "\\$&").replaceAll(/\d+/g, "\\d+"));
}

/** A home in which a line that kills a conversation after some seconds was run: on a busy machine one may not have begun by then. */
async function talkedUntilKilled(line: string, seconds = 2): Promise<Home> {
  const home = freshHome();
  const shown = await pasted(home, line.replace(/KILL \d+/, `KILL ${seconds}`));
  // the first answer of a thread begins otherwise, and the next one too if that was not stored
  const isAnswered = /^\[demo\] Nice/m.test(shown);
  return isAnswered ? home : talkedUntilKilled(line, seconds * 2);
}

const RUN: Readonly<Record<string, (text: string) => Promise<void>>> = {
  "README.md, Thirty seconds, with a crash in the middle, 1": async (text) => {
    const lines = text
      .replace("npm ci\n", "")
      .replaceAll("npx reprise", "reprise")
      .trim()
      .split("\n");
    const [killed = "", ...after] = lines;
    const home = await talkedUntilKilled(killed);
    expect(after).toHaveLength(2);
    // the pipe has closed while the system still ends the process
    await expect
      .poll(async () => (await home.call(["sessions", "list"])).stdout)
      .toMatch(/ (?:interrupted|idle) /);
    for (const line of after) {
      const [command = "", shown = ""] = line.split("  # ");
      expect(await pasted(home, command)).toMatch(withAnyNumbers(shown.trim()));
    }
  },
  "docs/configuration.md, Configuration, 1": async (text) => {
    const home = freshHome();
    mkdirSync(join(home.home, "projects/billing"), { recursive: true });
    const shown = await pasted(home, text);
    expect(shown).toMatch(/model +anthropic:claude-sonnet-5-5 +config/);
    expect(shown).toContain(join(home.home, ".config/reprise/config.jsonc"));
  },
  "docs/another-machine.md, In another folder, 1": async (text) => {
    const home = freshHome();
    await home.call(["-p", "hello"]);
    const [session] = await sessionsOf(home);
    mkdirSync(join(home.home, "shop"));
    const shown = await pasted(home, text.replace("3f2a9c41", session?.id.slice(0, 8) ?? ""));
    expect(shown).toContain(join(home.home, "shop"));
  },
  "docs/another-machine.md, On another machine, 1": async (text) => {
    const home = freshHome();
    await home.call(["-p", "hello"]);
    const disk = join(home.home, "disk");
    mkdirSync(disk);
    const shown = await pasted(home, text.replaceAll("/media/disk", disk));
    expect(shown).toContain("Same in both: 1 session");
  },
  "docs/histories.md, Histories of other programs, 1": async (text) => {
    const home = freshHome();
    placeHistory("claude-code", home);
    const [, named = ""] = /codex (\S+\.jsonl)/.exec(text) ?? [];
    const other = placeHistory("codex", { home: join(home.home, "other"), project: home.project });
    const shown = await pasted(home, text.replace(named, other));
    expect(shown).toMatch(/^[0-9a-f]{8} .*greetings?/im);
    expect(await sessionsOf(home)).not.toHaveLength(0);
  },
  "docs/operations.md, The token, 1": async (text) => {
    const home = freshHome();
    const [, url = ""] = await home
      .start(["serve", "--port", "0"])
      .waitFor(/listening on (http:\S+)/);
    expect(await pasted(home, text.replace("http://127.0.0.1:8787", url))).toMatch(/^\[\]/);
  },
  "docs/operations.md, The page, 1": async (text) => {
    const home = freshHome();
    await home.call(["-p", "hello"]);
    const [session] = await sessionsOf(home);
    const [make = "", ...others] = text
      .replaceAll("3f2a9c41", session?.id.slice(0, 8) ?? "")
      .trim()
      .split("\n");
    expect(await pasted(home, make)).toContain("https://reprise.example.org/");
    const [, share = ""] = /^(\S{6,})/m.exec(await pasted(home, others[0] ?? "")) ?? [];
    await pasted(home, (others[1] ?? "").replace("<id>", share));
    expect(await pasted(home, others[0] ?? "")).not.toMatch(new RegExp(`^${share}.*active`, "m"));
  },
  "docs/operations.md, Questions, 1": async (text) => {
    const home = await calling(WRITE_NEW);
    const service = home.start(["serve", "--port", "0", "--repos", home.project]);
    const [, url = ""] = await service.waitFor(/listening on (http:\S+)/);
    const token = readFileSync(join(home.home, ".local/state/reprise/token"), "utf8").trim();
    const client = createClient({ baseUrl: url, token });
    const { id } = await client.createSession({ repo_path: home.project });
    await client.queueExchange(id, "go");
    await expect.poll(() => client.listQuestions(id)).toHaveLength(1);
    const [question] = await client.listQuestions(id);
    const env = { REPRISE_TOKEN: token, URL: url, SESSION: id, QUESTION: question?.id };
    const { code } = await home.startShell(text, { input: "", env }).finished;
    expect(code).toBe(0);
    await expect.poll(async () => (await client.getExchange(id, 1)).state).toBe("done");
    expect(readFileSync(join(home.project, "docs/new.md"), "utf8")).toBe("new\n");
  },
  "docs/permissions.md, Permissions, 1": (text) =>
    expectQuestion(
      { name: "edit_file", args: { path: "a.txt", old_text: "one", new_text: "two" } },
      text,
    ),
  "docs/permissions.md, Rules, 1": async (text) => {
    const home = await calling(WRITE_NEW);
    await pasted(home, text);
    expect(readFileSync(join(home.project, "docs/new.md"), "utf8")).toBe("new\n");
  },
  "docs/permissions.md, In CI, 1": async (text) => {
    expect(await pasted(freshHome(), text)).toContain("[demo]");
  },
  "docs/permissions.md, In CI, 2": async (text) => {
    const shown = await pasted(freshHome(), text);
    const decided = [...text.matchAll(/# (allow|deny): …$/gm)].map(([, decision]) => decision);
    expect([...shown.matchAll(/^(\w+): /gm)].map(([, decision]) => decision)).toEqual(decided);
    expect(decided).toEqual(["allow", "deny"]);
  },
  "docs/permissions.md, Rules, 2": async (text) => {
    const home = await changed();
    const [session] = await sessionsOf(home);
    expect(session?.id).toMatch(/^5841d4/);
    const [remove = "", ...lines] = text.trim().split("\n").toReversed();
    const shown = await pasted(home, lines.toReversed().join("\n"));
    expect(shown).toContain("ask: rule write_file(**/AGENTS.md) (built-in)");
    // nobody has answered "always" in this session
    const { code, stderr } = await home.startShell(remove, { input: "" }).finished;
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining("Nobody allowed"),
    });
  },
  "docs/personas.md, Write one, 1": async (text) => {
    const home = freshHome();
    const [, file = ""] =
      /```markdown\n([^]*?)```/.exec(readFileSync(join(ROOT, "docs/personas.md"), "utf8")) ?? [];
    write(home, ".reprise/personas/librarian.md", file);
    expect(await pasted(home, text)).toMatch(/librarian[^]*\[demo\]/);
  },
  "docs/plans.md, Let the agent hand in a plan, 1": async (text) => {
    const home = freshHome();
    write(home, "docs/spec.md", "# The feature\n");
    expect(await pasted(home, text)).toContain("[demo]");
  },
  "docs/plans.md, Import a plan, 1": async (text) => {
    const home = freshHome();
    write(home, "specs/001-tags/tasks.md", "- [ ] T001 Store tags\n");
    write(home, ".kiro/specs/tags/tasks.md", "- [ ] 1. Store tags\n");
    const tags = { tags: { tasks: [{ id: 1, title: "Store tags" }] } };
    write(home, ".taskmaster/tasks/tasks.json", JSON.stringify(tags));
    const shown = await pasted(home, text);
    expect(shown).toContain("plan.json has 1 phase");
    expect(shown).toContain('"role": "builder"');
  },
  "docs/undo.md, Undo, 1": async (text) => {
    const home = await changed();
    const shown = await pasted(home, text.replace("--exchange 3", "--exchange 2"));
    expect(shown).toMatch(/src\/main\.ts/);
  },
  "docs/terminal.md, Plain lines and screen readers, 1": async (text) => {
    for (const line of text.trim().split("\n")) {
      const screen = openScreen(
        freshHome(),
        line.startsWith("export ") ? `${line}\nreprise` : line,
      );
      await screen.until(/Ctrl-C stops an answer\.$[^]*^>$/m);
      screen.type(CTRL_D);
      expect(await screen.finished).toBe(0);
    }
  },
};

/** Blocks that tests with these numbers run. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "README.md, With a real model, 1": "DOC-4",
  "docs/clients.md, Over HTTP, 1": "DOC-1",
  "docs/start.md, A first conversation, without a key, 1": "DOC-2",
  "docs/start.md, A first conversation, without a key, 2": "DOC-2",
  "docs/start.md, A feature, tested and undone, 1": "DOC-8",
  "docs/langgraph.md, Move from SqliteSaver or PostgresSaver, 1": "COPY-28",
  "docs/langgraph.md, Sessions around your graph, 1": "CLI-160",
  "docs/mcp.md, MCP servers, 1": "MCP-4",
  "docs/mcp.md, Servers that need a login, 1": "MCP-48",
  "docs/plans.md, Let the agent hand in a plan, 2": "PERMISSION-76",
  "docs/plans.md, Check a plan, 1": "DOC-5",
  "docs/plans.md, Look at a plan, 1": "DOC-5",
  "docs/plans.md, Run a plan, 1": "PLANRUN-67",
};

/** Blocks that cannot be run in a test. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "docs/databases.md, Databases from before the first release, 1":
    "needs a database of an earlier build",
  "CONTRIBUTING.md, Set up, 1": "installs the packages with which the tests run",
  "README.md, Install, 1":
    "`npm run check:package` packs the package and installs it in these ways",
  "README.md, Install, 2": "starts a service on a fixed port, and all tests",
  "docs/langgraph.md, Install, 1": "`npm run check:package` installs the package with these",
  "docs/library.md, Use Reprise in a program, 1": "`npm run check:package` installs these",
  "docs/models.md, Setup, 1": "needs keys of providers; test/cli/setup.test.ts runs such commands",
  "docs/operations.md, Containers, 1": "needs docker",
  "docs/operations.md, Containers, 2": "needs docker",
  "docs/operations.md, Front and worker nodes, 1": "needs another machine",
  "docs/operations.md, One node or several, 1": "needs PostgreSQL's createdb and two fixed ports",
  "docs/permissions.md, Commands, 1":
    "shows a question only on a machine with a sandbox: DOC-8 does",
};

it("[DOC-11] every block of commands is run by a test, or is listed with the reason", () => {
  const known = [...Object.keys(RUN), ...Object.keys(ELSEWHERE), ...Object.keys(LEFT_OUT)];
  expect(blocks.map(({ name }) => name).toSorted()).toEqual(known.toSorted());
});

it.each(Object.keys(RUN).slice(0, testSize("document-blocks")))("[DOC-11] %s", async (name) => {
  await RUN[name]?.(blocks.find((block) => block.name === name)?.text ?? "");
});

it("[DOC-11] the first program of docs/clients.md prints the answer", async () => {
  const page = readFileSync(join(ROOT, "docs/clients.md"), "utf8");
  const [, program = ""] = /```ts\n([^]*?)```/.exec(page) ?? [];
  const home = freshHome();
  const [, url = ""] = await home
    .start(["serve", "--port", "0"])
    .waitFor(/listening on (http:\S+)/);
  const text = program
    .replace('"reprise/client"', JSON.stringify(CLIENT))
    .replace("http://127.0.0.1:8787", url);
  write(home, "program.ts", text);
  expect(await pasted(home, "node program.ts")).toMatch(/^\[demo\] Hello!/m);
});
