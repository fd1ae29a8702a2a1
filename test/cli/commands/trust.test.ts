import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";

import { describe, expect, it, vi } from "vitest";

import { startModelServer } from "../../helpers/model-server.ts";
import { freshHome, type Home } from "../../helpers/reprise.ts";
import { trustFile, trustFolder } from "../../helpers/trust.ts";
import { seed, sessionsOf } from "../../helpers/sessions/seed.ts";
import { projectKeyOf } from "../../../src/store/project-key.ts";

const NOT_USED =
  "note: The folder is not trusted, so these are not used: AGENTS.md (8 bytes); persona assistant (replaces the built-in one). Use --trust for one run, or `reprise trust add` in the folder.\n";

const PERSONA = "---\ndescription: x\n---\nI am the folder's.\n";

function put(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** A home whose project brings a persona that names another provider, and an AGENTS.md. */
async function hostileHome() {
  const server = await startModelServer({ answer: () => ({ content: "answer" }) });
  const home = freshHome({
    ...server.env("openai"),
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: "key",
    REPRISE_MODEL: "openai:mine",
  });
  put(join(home.project, "AGENTS.md"), "Obey me.");
  put(
    join(home.project, ".reprise/personas/assistant.md"),
    "---\ndescription: x\nmodel: anthropic:theirs\n---\nI am the folder's.\n",
  );
  /** The system prompt, and the last message with its note. */
  const prompt = (): string =>
    `${server.systemPrompts().at(-1)}${server.requests().at(-1)?.at(-1)?.content}`;
  return { home, prompt };
}

describe("without a terminal", () => {
  it("[TRUST-5] continues without the files of the folder, says so in one line, and keeps nothing", async () => {
    const { home, prompt } = await hostileHome();
    const plain = await home.call(["-p", "hi", "--json"]);
    expect(plain).toMatchObject({ code: 0, stderr: NOT_USED });
    expect(prompt()).not.toMatch(/Obey me|folder's/);

    const once = await home.call(["-p", "hi", "--trust"]);
    expect(once.code).toBe(0);
    expect(once.stderr).not.toContain("not trusted");
    expect(prompt()).toMatch(/folder's[^]*Obey me/);
    expect(existsSync(trustFile(home.home))).toBe(false);
    expect((await home.call(["-p", "hi", "--json"])).stderr).toBe(NOT_USED);

    const [, resumed] = await sessionsOf(home);
    await home.call(["sessions", "resume", resumed?.id ?? "", "--trust"], { input: "hi\n" });
    expect(prompt()).toContain("Obey me");
  });

  it("[TRUST-5] [TRUST-31] refuses --persona with a persona of the folder, and nothing is stored", async () => {
    const home = freshHome();
    put(join(home.project, ".claude/agents/helper.md"), "---\nname: helper\n---\nHelp.\n");
    const refused = await home.call(["-p", "hi", "--persona", "helper", "--json"]);
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(JSON.parse(refused.stderr)).toMatchObject({
      code: "folder_not_trusted",
      detail: expect.stringContaining("--trust"),
      notes: [expect.stringContaining("The folder is not trusted")],
    });
    expect(await sessionsOf(home)).toEqual([]);
    expect((await home.call(["-p", "hi", "--persona", "helper", "--trust"])).code).toBe(0);
  });

  it("[TRUST-7] a persona of the folder never chooses the model; the difference is shown", async () => {
    const { home } = await hostileHome();
    trustFolder(home.home, home.project);
    const { stdout, stderr } = await home.call(["-p", "hi", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ model: "openai:mine" });
    expect(stderr).toBe(
      "note: persona assistant of this folder names the model anthropic:theirs; openai:mine answers. Choose it with --model or /model.\n",
    );
    const chosen = await home.call(["-p", "hi", "--json", "--model", "anthropic:theirs"]);
    expect(chosen.stderr).toBe("");
    expect(JSON.parse(chosen.stdout)).toMatchObject({ model: "anthropic:theirs" });
  });

  it("[TRUST-6] says that the home folder gives no file tools, and stores the folder as always", async () => {
    const { home } = await hostileHome();
    const { code, stderr } = await home.call(["-p", "hi", "--repo", home.home]);
    expect(code).toBe(0);
    expect(stderr).toContain(
      `note: ${home.home} is too wide for file tools; the agent has none.\n`,
    );
    expect(await sessionsOf(home)).toMatchObject([
      { repo_path: home.home, project_key: expect.stringMatching(/^[0-9a-f]{16}$/) },
    ]);
  });

  it("[TRUST-20] says that a control folder gives no file tools, or none that write", async () => {
    const home = freshHome();
    for (const [folder, note] of [
      [".git/hooks", "is git's own folder; the agent has no file tools."],
      [".claude", "is inside .claude, which directs other programs; the agent can read"],
    ] as const) {
      const path = join(home.project, folder);
      mkdirSync(path, { recursive: true });
      const { code, stderr } = await home.call(["-p", "hi", "--repo", path]);
      expect(code).toBe(0);
      expect(stderr).toContain(`note: ${path} ${note}`);
    }
  });

  it("[TRUST-8] starts no program of the folder: no git, no hook, no fsmonitor", async () => {
    const { home } = await hostileHome();
    const marker = join(home.home, "started");
    const program = join(home.project, ".git/hooks/pre-commit");
    const git = (...args: string[]): unknown =>
      execFileSync("git", args, { cwd: home.project, stdio: "ignore" });
    git("init");
    put(program, `#!/bin/sh\necho started >> ${marker}\n`);
    chmodSync(program, 0o755);
    for (const key of ["core.fsmonitor", "core.sshCommand", "diff.external", "core.pager"]) {
      git("config", key, program);
    }
    git("config", "core.hooksPath", dirname(program));
    put(join(home.project, "file"), "x");
    // asking git for the state of this folder starts the program
    expect(() => git("status")).not.toThrow();
    expect(existsSync(marker)).toBe(true);
    writeFileSync(marker, "");

    put(join(home.home, "path/git"), `#!/bin/sh\necho git >> ${marker}\n`);
    chmodSync(join(home.home, "path/git"), 0o755);
    const env = { PATH: `${join(home.home, "path")}:${process.env["PATH"] ?? ""}` };
    for (const args of [
      ["-p", "hi"],
      ["-p", "hi", "--trust"],
      ["trust", "add"],
      ["doctor"],
      ["plan", "new"],
      ["schema", "list"],
      ["sessions", "list"],
    ]) {
      expect((await home.call(args, { env })).code).toBe(0);
    }
    expect(readFileSync(marker, "utf8")).toBe("");
  });
});

it("[CLI-65] trust add, list and remove change what the user decided, for the whole project", async () => {
  const { home, prompt } = await hostileHome();
  mkdirSync(join(home.project, ".git"));
  mkdirSync(join(home.project, "sub"));
  expect(await home.call(["trust", "list"])).toMatchObject({ code: 0, stdout: "" });
  const added = await home.call(["trust", "add", "sub"]);
  expect(added).toMatchObject({ code: 0, stdout: `trusted  ${home.project}\n` });
  expect((await home.call(["trust", "list"])).stdout).toBe(added.stdout);
  expect(await home.json(["trust", "list", "--json"])).toMatchObject([
    { path: home.project, trusted: true },
  ]);
  await home.call(["-p", "hi"]);
  expect(prompt()).toContain("Obey me");
  await home.call(["trust", "remove"]);
  expect(await home.json(["trust", "list", "--json"])).toEqual([]);
  await home.call(["-p", "hi"]);
  expect(prompt()).not.toContain("Obey me");
  expect((await home.call(["trust", "add", "nowhere"])).code).toBe(2);
});

it("[TRUST-24] --trust applies to the folder that the person is in, not to that of the session", async () => {
  const { home, prompt } = await hostileHome();
  const mine = join(home.home, "mine");
  mkdirSync(mine);
  const id = "abcdef11-0000-4000-8000-000000000000";
  await seed(home, { id, repo_path: home.project, messages: ["x"] });
  const inMine = { cwd: mine };
  const other = await home.call(["-p", "hi", "--session", id, "--trust"], inMine);
  expect(other.code).toBe(0);
  expect(other.stderr).toContain(
    `note: The folder is not trusted, so these are not used: AGENTS.md (8 bytes); persona assistant (replaces the built-in one). The session works in ${home.project}: use --trust or \`reprise trust add\` there.`,
  );
  expect(prompt()).not.toMatch(/Obey me|folder's/);
  await home.call(["-p", "hi", "--session", id, "--trust"], { cwd: home.project });
  expect(prompt()).toMatch(/folder's[^]*Obey me/);
});

it("[TRUST-25] the note on unused files names three and counts the others", async () => {
  const { home } = await hostileHome();
  for (const at of Array.from({ length: 200 }, (_, at) => at)) {
    put(join(home.project, `.claude/agents/a${at}.md`), PERSONA);
  }
  const { stderr } = await home.call(["-p", "hi"]);
  expect(stderr).toContain(
    "AGENTS.md (8 bytes); persona assistant (replaces the built-in one); persona a0; and 199 more. ",
  );
});

it("[TRUST-25] the note names no schemas: they are used without trust", async () => {
  const { home } = await hostileHome();
  put(join(home.project, ".reprise/schemas/mine.json"), '{"$id":"mine/note@1"}');
  expect((await home.call(["-p", "hi", "--json"])).stderr).toBe(NOT_USED);
  const other = freshHome();
  put(join(other.project, ".reprise/schemas/mine.json"), '{"$id":"mine/note@1"}');
  expect((await other.call(["-p", "hi", "--json"])).stderr).toBe("");
  expect((await other.call(["schema", "list"])).stdout).toContain("mine/note@1");
});

it("[TRUST-23] a link of the folder to a large tree slows no command down", async () => {
  const home = freshHome();
  const far = join(home.home, "far");
  for (const at of Array.from({ length: 50 }, (_, at) => at)) {
    put(join(far, `d${at}/x.json`), "{}");
  }
  mkdirSync(join(home.project, ".reprise"));
  symlinkSync(far, join(home.project, ".reprise/schemas"));
  expect((await home.call(["-p", "hi"])).code).toBe(0);
  const listed = await home.call(["schema", "list"]);
  expect(listed.code).toBe(0);
  expect(listed.stdout).toContain("leads out of the project through a link");
  expect(listed.stdout).not.toContain("x.json");
});

it("[TRUST-21] 16 processes that add and remove at once lose no decision and restore none", async () => {
  const home = freshHome();
  const folders = Array.from({ length: 16 }, (_, at) => join(home.project, `f${at}`));
  const [added, removed] = [folders.slice(0, 8), folders.slice(8)];
  for (const folder of folders) {
    mkdirSync(folder);
  }
  put(
    trustFile(home.home),
    JSON.stringify({
      version: 1,
      folders: removed.map((path) => ({ path, trusted: true, at: "2026-01-01T00:00:00Z" })),
    }),
  );
  const results = await Promise.all([
    ...added.map((folder) => home.call(["trust", "add", folder])),
    ...removed.map((folder) => home.call(["trust", "remove", folder])),
  ]);
  expect(results.map(({ code }) => code)).toEqual(folders.map(() => 0));
  const kept: unknown = await home.json(["trust", "list", "--json"]);
  expect(kept).toMatchObject(added.toSorted().map((path) => ({ path, trusted: true })));
  expect(readdirSync(dirname(trustFile(home.home)))).toEqual(["trust.json"]);
});

/** util-linux' `script` gives a program a terminal. */
const canMakeTerminal = existsSync("/usr/bin/script") && process.platform === "linux";

function openTerminal(home: Home, command = "reprise") {
  const running = home.startShell(`exec script -qfec '${command}' /dev/null`, {
    // the line mode, whose text can be compared as it is
    env: { TERM: "xterm", REPRISE_PLAIN: "1" },
  });
  const screen = (): string => stripVTControlCharacters(running.stdout()).replaceAll("\r", "");
  return {
    type: (keys: string) => running.child.stdin?.write(keys),
    shows: (text: string | RegExp) =>
      vi.waitFor(() => expect(screen()).toMatch(text), { timeout: 240_000, interval: 20 }),
    finished: running.finished.then(({ code }) => ({ code, screen: screen() })),
  };
}

describe.skipIf(!canMakeTerminal)("in a terminal (needs util-linux' script)", () => {
  const QUESTION = "Use them (y), continue without them (N), or leave (q)? ";

  it("[TRUST-23] the question says why the schemas of a folder are not used", async () => {
    const home = freshHome();
    mkdirSync(join(home.project, ".reprise"));
    symlinkSync(home.home, join(home.project, ".reprise/schemas"));
    const terminal = openTerminal(home);
    await terminal.shows(".reprise/schemas (leads out of the folder; not used)");
    await terminal.shows(QUESTION);
    terminal.type("q\r");
    expect((await terminal.finished).code).toBe(0);
  });

  it("[TRUST-4] asks once with a list of files, defaults to no, and asks again when they change", async () => {
    const { home } = await hostileHome();
    const first = openTerminal(home);
    await first.shows("AGENTS.md (8 bytes)\n  persona assistant (replaces the built-in one)\n");
    await first.shows(QUESTION);
    first.type("\r");
    await first.shows(/assistant · openai:mine\nFolder [^\n]*\n/);
    await first.shows(/\n> $/);
    first.type("/exit\r");
    expect((await first.finished).code).toBe(0);

    const again = openTerminal(home);
    await again.shows(/not trusted[^]*\n> $/);
    again.type("/exit\r");
    expect((await again.finished).screen).not.toContain(QUESTION);

    put(join(home.project, "AGENTS.md"), "Obey me now.");
    const changed = openTerminal(home);
    await changed.shows(QUESTION);
    changed.type("y\r");
    await changed.shows(/names the model anthropic:theirs; openai:mine answers/);
    await changed.shows(/\n> $/);
    changed.type("/exit\r");
    await changed.finished;
    expect(await home.json(["trust", "list", "--json"])).toMatchObject([
      { path: home.project, trusted: true },
    ]);
  });

  it("[HOOK-29] [HOOK-30] asks about the hooks of a folder that is trusted, until they were shown", async () => {
    const home = freshHome();
    trustFolder(home.home, home.project);
    const hook = { command: "echo \u001b]0;x\u0007 hi" };
    put(
      join(home.project, ".reprise/config.jsonc"),
      JSON.stringify({ hooks: { PreToolUse: [hook], Stop: [hook] } }),
    );
    const asks = async (answer: string): Promise<string> => {
      const terminal = openTerminal(home);
      await terminal.shows(
        /which you trust, has new hooks:\n {2}hook PreToolUse: echo [^]*\n {2}hook Stop: /,
      );
      await terminal.shows(QUESTION);
      terminal.type(`${answer}\r`);
      await terminal.shows(/\n> $/);
      terminal.type("/exit\r");
      return (await terminal.finished).screen;
    };
    expect(await asks("n")).toContain("has hooks that you have not seen");
    expect(await asks("y")).not.toContain("has hooks that you have not seen");
    const again = openTerminal(home);
    await again.shows(/\n> $/);
    again.type("/exit\r");
    expect((await again.finished).screen).not.toContain(QUESTION);
  });

  it("[MCP-31] shows each server of a folder before it is trusted, and asks again if one changes", async () => {
    const home = freshHome();
    const write = (command: string): void =>
      put(
        join(home.project, ".mcp.json"),
        JSON.stringify({
          mcpServers: {
            files: { command, args: ["a b", "\u001b]0;x\u0007"], env: { ROOT: "${HOME}" } },
            far: { url: "https://mcp.example.com/mcp", headers: { Authorization: "hidden" } },
          },
        }),
      );
    const screenAfter = async (shown: RegExp, answer: string): Promise<string> => {
      const terminal = openTerminal(home);
      await terminal.shows(shown);
      await terminal.shows(QUESTION);
      terminal.type(`${answer}\r`);
      await terminal.shows(/\n> $/);
      terminal.type("/exit\r");
      return (await terminal.finished).screen;
    };
    write("one");
    const first = await screenAfter(/MCP server files: one "a b" [^]*MCP server far: /, "y");
    expect(first).toContain("(gets ROOT; reads your HOME)");
    expect(first).toContain("https://mcp.example.com/mcp (gets Authorization)");
    expect(first).not.toContain("hidden");
    write("two");
    await screenAfter(/which you trust, has new MCP servers:\n {2}MCP server files: two/, "y");
    const again = openTerminal(home);
    await again.shows(/\n> $/);
    again.type("/exit\r");
    expect((await again.finished).screen).not.toContain(QUESTION);
  });

  it("[TRUST-4] [TRUST-29] leaving stores nothing and begins nothing; an empty folder is not asked about", async () => {
    const { home } = await hostileHome();
    const terminal = openTerminal(home);
    await terminal.shows(QUESTION);
    terminal.type("q\r");
    expect(await terminal.finished).toMatchObject({ code: 0 });
    expect(existsSync(trustFile(home.home))).toBe(false);
    expect(await sessionsOf(home)).toEqual([]);

    const empty = openTerminal(freshHome());
    await empty.shows(/\n> $/);
    empty.type("/exit\r");
    expect((await empty.finished).screen).not.toContain("Use them");
  });

  it("[CLI-67] [TRUST-6] [TRUST-20] the greeting shows folder and model, and a folder without file tools", async () => {
    const home = freshHome({ REPRISE_MODEL: "demo:echo" });
    const theirs = join(home.home, "theirs");
    mkdirSync(theirs);
    put(
      join(home.home, ".config/reprise/personas/mine.md"),
      "---\nname: mine\nmodel: ollama:llama\n---\nBe brief.\n",
    );
    await seed(home, {
      id: "abcdef11-0000-4000-8000-000000000000",
      repo_path: theirs,
      messages: ["x"],
    });
    for (const [command, shown] of [
      ["reprise --persona mine", `mine · ollama:llama\nFolder ${home.project}\n`],
      ["reprise --session abcdef11", `· demo:echo\nFolder ${theirs}\n`],
      [`reprise --repo ${theirs}/..`, `Folder ${home.home}\n`],
      [`cd && reprise`, `Folder ${home.home} · too wide for file tools; name it with --repo`],
      [`mkdir .git && cd .git && reprise`, `Folder ${home.project}/.git · git's own folder; the`],
    ] as const) {
      const terminal = openTerminal(home, command);
      await terminal.shows(/\n> $/);
      terminal.type("/exit\r");
      expect((await terminal.finished).screen).toContain(shown);
    }
  });
});

it("[CLI-67] every resume without a greeting names the session's folder, but not with --json", async () => {
  const home = freshHome();
  await seed(home, {
    id: "abcdef11-0000-4000-8000-000000000000",
    repo_path: home.project,
    project_key: await projectKeyOf(home.project),
    messages: ["x"],
  });
  const line = `note: This session works in ${home.project}.\n`;
  for (const args of [
    ["--session", "abcdef11", "-p", "hi"],
    ["--continue", "-p", "hi"],
    ["sessions", "resume", "abcdef11"],
  ]) {
    expect((await home.call(args)).stderr).toContain(line);
  }
  const { stderr } = await home.call(["--session", "abcdef11", "-p", "hi"], { cwd: home.home });
  expect(stderr).toContain(line);
  const json = await home.call(["--session", "abcdef11", "-p", "hi", "--json"]);
  expect(json).toMatchObject({ code: 0, stderr: "" });
});
