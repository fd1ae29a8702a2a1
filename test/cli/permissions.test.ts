import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import type { QuestionInfo } from "../../src/core/schemas/schemas.ts";
import { type SentMessage, startModelServer } from "../helpers/model-server.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { detailOf, sessionsOf } from "../helpers/sessions/seed.ts";
import { CTRL_D, openTerminal } from "../helpers/terminal.ts";

const CONTENT = "new \u001b[31mline\n";

/** An agent that reads and then writes the file that it is named, and then repeats the tool's result. */
async function writing(): Promise<Home & { readonly file: (path: string) => string | null }> {
  const server = await startModelServer({
    answer: (messages: readonly SentMessage[]) => {
      const { role, content = "" } = messages.at(-1) ?? { role: "" };
      const [user, asked] = messages.slice(messages.findLastIndex(({ role }) => role === "user"));
      const path = user?.content;
      const call = (name: string, args: object) => ({
        toolCalls: [{ name, arguments: JSON.stringify(args) }],
      });
      const hasRead = messages.at(-2) === asked;
      return role === "user"
        ? call("read_file", { path })
        : hasRead
          ? call("write_file", { path, content: CONTENT })
          : { content: `it is: ${content}` };
    },
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  return {
    ...home,
    file: (path) => {
      const at = join(home.project, path);
      return existsSync(at) ? readFileSync(at, "utf8") : null;
    },
  };
}

async function openQuestions(home: Home, id: string): Promise<readonly QuestionInfo[]> {
  const { stdout } = await home.call(["sessions", "answer", id, "--json"]);
  return JSON.parse(stdout) as QuestionInfo[];
}

it("[PERMISSION-17] -p ends with exit code 7 before a change, and --permission, --allow and --no-questions say what happens instead", async () => {
  const home = await writing();
  const asked = await home.call(["-p", "a.txt"]);
  expect(asked).toMatchObject({ code: 7, stdout: "" });
  expect(asked.stderr).toContain("May the agent change a.txt (write_file)?");
  expect(asked.stderr).toContain("  | +new ␛[31mline\n");
  expect(asked.stderr).not.toContain("\u001b");
  expect(asked.stderr).toContain("  4. deny: ");
  expect(asked.stderr).toContain("use --permission edits;");
  expect(home.file("a.txt")).toBeNull();
  const [session] = await sessionsOf(home);
  const id = session?.id ?? "";
  expect(await home.call(["sessions", "answer", id, "Allow Once"])).toMatchObject({ code: 0 });
  expect((await home.call(["--session", id, "--continue-exchange"])).stdout).toContain("created");
  expect(home.file("a.txt")).toBe(CONTENT);

  expect(await home.call(["-p", "b.txt", "--permission", "edits"])).toMatchObject({ code: 0 });
  expect(home.file("b.txt")).toBe(CONTENT);
  const denied = await home.call(["-p", "c.txt", "--no-questions"]);
  expect(denied).toMatchObject({ code: 8 });
  expect(denied.stdout).toContain("this run asks no questions");
  expect(await home.call(["-p", "c.txt", "--allow", "write_file(*.txt)"])).toMatchObject({
    code: 0,
  });
  expect(home.file("c.txt")).toBe(CONTENT);
  expect(await home.call(["-p", "AGENTS.md", "--permission", "all"])).toMatchObject({ code: 7 });

  const help = await home.call(["--help"]);
  expect(help.stdout.replaceAll(/\s+/g, " ")).toContain("`-p` scripts that write need edits");
  for (const wrong of [
    ["--permission", "some"],
    ["--allow", "write_fil"],
    ["--allow", "write_file(/etc)"],
    ["--plan", "--permission", "all"],
    ["--agent", "./a.js", "--permission", "all"],
    ["--agent", "./a.js", "--no-questions"],
  ]) {
    expect(await home.call(["-p", "x", ...wrong])).toMatchObject({ code: 2 });
  }
});

it("[PERMISSION-17] --permission on a session that is there sets its mode, and plan mode is one", async () => {
  const home = await writing();
  await home.call(["-p", "a.txt", "--permission", "edits"]);
  expect(await home.call(["--continue", "-p", "b.txt"])).toMatchObject({ code: 0 });
  await home.call(["--continue", "-p", "c.txt", "--permission", "plan"]);
  expect(await sessionsOf(home)).toMatchObject([{ plan_mode: true }]);
  expect(home.file("c.txt")).toBeNull();
  await home.call(["--continue", "-p", "c.txt", "--permission", "ask"]);
  expect(await sessionsOf(home)).toMatchObject([{ plan_mode: false }]);
  expect(home.file("c.txt")).toBeNull();
});

it("[PERMISSION-18] a terminal shows the diff, takes a reason for a no, and does the rest after a yes", async () => {
  const home = await writing();
  writeFileSync(join(home.project, "a.txt"), "old\n");
  const terminal = openTerminal(home, "reprise");
  await terminal.shows(/> $/);
  terminal.type("a.txt\r");
  await terminal.shows(
    /May the agent change a\.txt[^]*\| -old[^]*\| \+new [^]*1\. allow once[^]*4\. deny[^]*answer> $/,
  );
  terminal.type("deny: keep it\r");
  await terminal.shows(/the user denied this call and says: keep it[^]*> $/);
  expect(home.file("a.txt")).toBe("old\n");
  terminal.type("a.txt\r");
  await terminal.shows(/answer> $/);
  terminal.type("3\r");
  await terminal.shows(/it is: replaced a\.txt[^]*> $/);
  terminal.type("a.txt\r");
  await terminal.shows(/it is: replaced a\.txt[^]*> $/);
  terminal.type("/permission\r");
  await terminal.shows(/mode ask[^]*allow +write_file\(a\.txt\) +session[^]*> $/);
  terminal.type(CTRL_D);
  expect((await terminal.finished).code).toBe(0);
});

it("[PERMISSION-18] sessions show prints the diff line by line, and sessions answer takes a reason for a no", async () => {
  const home = await writing();
  const asked = await home.call(["-p", "a.txt"]);
  expect(asked.stderr).toContain("  To give the agent a reason: deny: the reason\n");
  const [session] = await sessionsOf(home);
  const id = session?.id ?? "";
  const { stdout } = await home.call(["sessions", "show", id]);
  expect(stdout).toMatch(
    /^ {2}question {2}\S+ May the agent change a\.txt .*\n {2}\| The rule .*\n {2}\| --- .*$/m,
  );
  expect(stdout).toContain("  | +new ␛[31mline\n");
  const twice = ["sessions", "answer", id, "4: not now", "--note", "never"];
  expect(await home.call(twice)).toMatchObject({ code: 2 });
  expect(await home.call(["sessions", "answer", id, "allow once: yes"])).toMatchObject({ code: 2 });
  expect(await home.call(["sessions", "answer", id, "4: not now"])).toMatchObject({ code: 0 });
  const { stdout: answer } = await home.call(["--session", id, "--continue-exchange"]);
  expect(answer).toContain("the user denied this call and says: not now");
  expect(home.file("a.txt")).toBeNull();
});

it("[PERMISSION-22] /permission shows and sets the mode, explains a call and takes a rule back", async () => {
  const home = await writing();
  const { stderr } = await home.call([], {
    input: [
      "/permission",
      "/permission rules",
      "/permission write_file(a.txt)",
      "/permission auto",
      "/permission edits",
      "/permission write_file(a.txt)",
      "/permission remove write_file(a.txt)",
      "a.txt",
      "/permission nonsense",
    ].join("\n"),
  });
  expect(stderr).toMatch(
    /mode ask\nCommands of the agent run (in|without) a sandbox.*\n(.*\n){2}mode ask\n/,
  );
  expect(stderr).toMatch(/^\d+ protected paths .* \/permission rules lists every rule\.$/m);
  expect(stderr).toMatch(/^deny +write_file\(\*\*\/\.git\) +fixed limit$/m);
  expect(stderr).toMatch(/^ask +write_file\(\*\*\/AGENTS\.md\) +built-in$/m);
  expect(stderr).toContain("ask: rule write_file (built-in)\n");
  expect(stderr).toMatch(/is auto\.\nCommands of the agent run (in|without) a sandbox/);
  expect(stderr).toContain("The permission mode is edits.\n");
  expect(stderr).toContain("allow: rule write_file (mode edits)\n");
  expect(stderr).toContain("Nobody allowed this rule in the session.\n");
  expect(stderr).toContain("There is no tool of this name");
  expect(home.file("a.txt")).toBe(CONTENT);
});

it("[CLI-291] permission explain decides with the rules and without the questions that a run is started with", async () => {
  const home = await writing();
  const explained = async (...words: string[]) =>
    (await home.call(["permission", "explain", ...words])).stdout.split(":")[0];
  const allow = ["--allow", "write_file(src/**)"];
  expect(await explained("write_file(src/a.ts)")).toBe("ask");
  expect(await explained(...allow, "write_file(src/a.ts)")).toBe("allow");
  expect(await explained(...allow, "write_file(other.txt)")).toBe("ask");
  expect(await explained(...allow, "--no-questions", "write_file(other.txt)")).toBe("deny");
  expect(await home.call(["permission", "explain", "--allow", "nope", "list_files"])).toMatchObject(
    {
      code: 2,
    },
  );
});

it("[CLI-290] -p ends with exit code 8 if rules denied a call, and prints the answer", async () => {
  const home = await writing();
  const some = ["--no-questions", "--allow", "write_file(c.txt)"];
  expect(await home.call(["-p", "c.txt", ...some])).toMatchObject({ code: 0 });
  const denied = await home.call(["-p", "d.txt", "--json", ...some]);
  expect(denied).toMatchObject({ code: 8 });
  expect(JSON.parse(denied.stdout)).toMatchObject({ stopped: false });
  expect(home.file("d.txt")).toBeNull();
});

it.each([".git/x", "/etc/passwd"])(
  "[CLI-290] -p ends with exit code 8 if a fixed limit denied a call: %s",
  async (path) => {
    const home = await writing();
    const denied = await home.call(["-p", path, "--permission", "edits"]);
    expect(denied).toMatchObject({ code: 8 });
    expect(denied.stdout).toMatch(/^it is: /);
  },
);

it("[PERMISSION-19] permission explain judges a patch by whether the file is there, and takes --permission", async () => {
  const home = await writing();
  writeFileSync(join(home.project, "there"), "");
  const explained = async (...words: string[]): Promise<string> =>
    (await home.call(["permission", "explain", "--no-questions", ...words])).stdout;
  const writes = ["--allow", "write_file(**)"];
  expect(await explained(...writes, "apply_patch(absent)")).toMatch(/^allow: /);
  expect(await explained(...writes, "apply_patch(there)")).toMatch(/^deny: /);
  expect(await explained("--allow", "edit_file(**)", "apply_patch(absent)")).toMatch(/^deny: /);
  expect(await explained("--allow", "edit_file(**)", "apply_patch(there)")).toMatch(
    /^allow: .*; to delete or move the file: deny\n$/,
  );
  const edits = ["--permission", "edits"];
  expect(await explained(...edits, "apply_patch(there)")).toMatch(/^allow: [^;]*\n$/);
  expect(await explained(...edits, "write_file(a.txt)")).toMatch(/^allow: /);
  expect(await explained("write_file(a.txt)")).toMatch(/^deny: /);
  await home.call(["-p", "a.txt"]);
  const id = (await sessionsOf(home))[0]?.id ?? "";
  for (const wrong of [
    ["--permission", "most"],
    [...edits, "--session", id],
  ]) {
    const refused = ["permission", "explain", ...wrong, "write_file(a.txt)"];
    expect(await home.call(refused)).toMatchObject({ code: 2 });
  }
});

it("[PERMISSION-19] permission list, explain and remove show and change what decides", async () => {
  const home = await writing();
  const explained = await home.call(["permission", "explain", "write_file(AGENTS.md)"]);
  expect(explained).toMatchObject({
    code: 0,
    stdout:
      "ask: rule write_file(**/AGENTS.md) (built-in); AGENTS.md is protected: every agent obeys it from then on\n",
  });
  for (const [call, effect] of [
    ["read_file(src/a.ts)", "allow"],
    ["write_file(.git/config)", "deny"],
    ["write_file(/etc/passwd)", "deny"],
    ["delegate", "allow"],
    ["run_command(npm test)", "ask"],
  ] as const) {
    const { stdout } = await home.call(["permission", "explain", call, "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ effect });
  }
  const absent = ["permission", "explain", "github__create-issue"];
  expect(await home.call(absent)).toMatchObject({
    code: 0,
    stdout: "ask: rule github__create-issue (built-in)\n",
  });
  for (const wrong of [
    "write_file",
    "delegate(x)",
    "create-issue",
    "run_command",
    "write_file(../x)",
  ]) {
    expect(await home.call(["permission", "explain", wrong])).toMatchObject({ code: 2 });
  }

  await home.call(["-p", "a.txt"]);
  const id = (await sessionsOf(home))[0]?.id ?? "";
  await home.call(["sessions", "answer", id, "3"]);
  await home.call(["--session", id, "--continue-exchange"]);
  const rule = "write_file(a.txt)";
  const listed = async () => {
    const { stdout } = await home.call(["permission", "list", id, "--json"]);
    return JSON.parse(stdout) as { mode: string; rules: unknown[] };
  };
  expect(await listed()).toMatchObject({ mode: "ask" });
  const entry = { effect: "allow", rule, layer: "session" };
  expect((await listed()).rules).toContainEqual(entry);
  expect((await home.call(["permission", "explain", rule, "--session", id])).stdout).toBe(
    `allow: rule ${rule} (session)\n`,
  );
  expect(await home.call(["permission", "remove", id, rule])).toMatchObject({ code: 0 });
  expect(await home.call(["permission", "remove", id, rule])).toMatchObject({ code: 2 });
  expect((await listed()).rules).not.toContainEqual(entry);
});

it("[PERMISSION-19] permission list shows what was added to the rules of the program, and how many paths are protected; --all shows every rule", async () => {
  const home = await writing();
  await home.call(["-p", "a.txt"]);
  const id = (await sessionsOf(home))[0]?.id ?? "";
  const list = async (...words: string[]) =>
    (await home.call(["permission", "list", id, ...words])).stdout;
  expect(await list()).toMatch(
    /^mode ask\nCommands of the agent run .*\nNo rules were added to those of the program\.\n5 protected paths are never changed, \d+ are asked about in every mode; --all lists every rule\.\n$/,
  );
  await home.call(["sessions", "answer", id, "3"]);
  await home.call(["--session", id, "--continue-exchange"]);
  const [, , added, summary, ...more] = (await list()).trimEnd().split("\n");
  expect(added).toBe("allow  write_file(a.txt)  session");
  expect(more).toEqual([]);

  const [, denied, asked] = /^(\d+) protected .* (\d+) are asked/.exec(summary ?? "") ?? [];
  const every = (await list("--all")).trimEnd().split("\n").slice(2);
  const paths = (rows: RegExp) =>
    new Set(every.flatMap((row) => rows.exec(row)?.[1] ?? [])).size.toString();
  expect(paths(/^deny +\w+\(\*\*\/(.+)\) +fixed limit$/)).toBe(denied);
  expect(paths(/^ask +[\w*]+\(\*\*\/(.+)\) +built-in$/)).toBe(asked);
  const { rules } = JSON.parse(await list("--json")) as { rules: unknown[] };
  expect(rules).toHaveLength(every.length);
});

it("[PERMISSION-15] a terminal that is killed while it asks, and one that is killed after the answer, lose nothing", async () => {
  const home = await writing();
  const first = openTerminal(home, "exec reprise");
  await first.shows(/> $/);
  first.type("a.txt\r");
  await first.shows(/answer> $/);
  first.kill("SIGKILL");
  await first.finished;
  const id = (await sessionsOf(home))[0]?.id ?? "";
  const [question] = await openQuestions(home, id);
  expect(question).toMatchObject({ kind: "permission", state: "open" });
  expect(home.file("a.txt")).toBeNull();

  const second = openTerminal(home, `exec reprise --session ${id}`);
  await second.shows(/> $/);
  await home.call(["sessions", "answer", id, "allow once"]);
  second.kill("SIGKILL");
  await second.finished;
  expect(home.file("a.txt")).toBeNull();
  const third = await home.call(["--session", id, "--continue-exchange"]);
  expect(third).toMatchObject({ code: 0 });
  expect(third.stdout).toContain("created a.txt");
  expect(home.file("a.txt")).toBe(CONTENT);
  expect(await detailOf(home, id)).toMatchObject({ activity: "idle" });
});
