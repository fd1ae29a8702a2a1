import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import { answerQuestion } from "../../../src/store/records/questions/answer.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import { type SentMessage, startModelServer } from "../../helpers/model-server.ts";
import { freshHome, type Home } from "../../helpers/reprise.ts";
import { sessionsOf } from "../../helpers/sessions/seed.ts";
import { temporaryFolder } from "../../helpers/temp.ts";
import { CTRL_D, openTerminal } from "../../helpers/terminal.ts";
import { trustFolder } from "../../helpers/trust.ts";

function configOf({ home }: Home): string {
  return join(home, ".config/reprise/config.jsonc");
}

function writeConfig(home: Home, content: unknown): void {
  const file = configOf(home);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
}

/** An agent that calls the tool and the path that it is sent, such as `read_file a.txt`. */
async function calling(): Promise<Home> {
  const server = await startModelServer({
    answer: (messages: readonly SentMessage[]) => {
      const { role, content = "" } = messages.at(-1) ?? { role: "" };
      if (role !== "user") {
        return { content: `it is: ${content}` };
      }
      const [name = "", path = "", text = ""] = content.split(" ");
      return { toolCalls: [{ name, arguments: JSON.stringify({ path, content: text, text }) }] };
    },
  });
  return freshHome({ ...server.env("openai") });
}

it("[CONFIG-2] stops the start of what uses the config, with the place; other commands work", async () => {
  const home = freshHome();
  writeConfig(home, `{\n  "modell": "sk-secret"\n}\n`);
  const place = `${configOf(home)}:2:3`;
  for (const args of [
    ["-p", "hello"],
    [],
    ["serve", "--port", "0"],
    ["permission", "list"],
    ["config", "get"],
    ["config", "check"],
    ["config", "set", "model", "demo"],
  ]) {
    const { code, stderr } = await home.call(args);
    expect([args, code]).toEqual([args, 2]);
    expect(stderr).toContain(`(${place}). There is no such key here; did you mean "model"?`);
    expect(stderr).toContain("[config_invalid]");
    expect(stderr).not.toContain("sk-secret");
  }
  expect(await home.call(["sessions", "list"])).toMatchObject({ code: 0 });
  const doctor = await home.call(["doctor"]);
  expect(doctor.code).toBe(1);
  expect(doctor.stdout).toContain(place);
  expect(readFileSync(configOf(home), "utf8")).toContain("modell");
});

it("[CONFIG-4] [CONFIG-8] config set keeps comments, mode and link; config get and doctor name the origin", async () => {
  const home = freshHome();
  expect((await home.call(["config", "path"])).stdout).toBe(`${configOf(home)}\n`);
  expect(await home.call(["config", "check"])).toMatchObject({ stdout: "There is no config.\n" });
  expect(existsSync(dirname(configOf(home)))).toBe(false);
  await home.call(["config", "set", "persona", "planner"]);
  expect(statSync(configOf(home)).mode & 0o777).toBe(0o600);

  const dotfiles = temporaryFolder();
  const target = join(dotfiles, "reprise.jsonc");
  writeFileSync(target, `// mine\n{"persona": "planner" /* plans */}\n`);
  chmodSync(target, 0o640);
  const other = freshHome();
  mkdirSync(dirname(configOf(other)), { recursive: true });
  symlinkSync(target, configOf(other));
  const set = async (...args: string[]) => other.call(["config", "set", ...args]);
  expect(await set("model", "demo:one")).toMatchObject({ code: 0, stdout: "set  model\n" });
  expect(await set("limits.children", "3", "--folder", ".")).toMatchObject({ code: 0 });
  expect(await set("permission.deny", '["delegate"]')).toMatchObject({ code: 0 });
  expect(await set("theme", "none")).toMatchObject({ code: 0 });
  expect(await set("persona", "null")).toMatchObject({ code: 0, stdout: "removed  persona\n" });
  const text = readFileSync(target, "utf8");
  expect(text).toContain("// mine\n{");
  expect(text).toContain("/* plans */");
  expect(statSync(target).mode & 0o777).toBe(0o640);
  expect(lstatSync(configOf(other)).isSymbolicLink()).toBe(true);
  expect(readdirSync(dotfiles)).toEqual(["reprise.jsonc"]);

  const from = async (env: Readonly<Record<string, string>> = {}) => {
    const { stdout } = await other.call(["config", "get", "--json"], { env });
    const all = JSON.parse(stdout) as readonly { key: string; value: unknown; from: string }[];
    return Object.fromEntries(all.map(({ key, value, from }) => [key, [value, from]]));
  };
  const folder = `config for ${other.project}`;
  expect(await from()).toMatchObject({
    model: ["demo:one", "config"],
    persona: ["assistant", "default"],
    "permission.deny": [["delegate"], "config"],
    "limits.children": [3, folder],
    theme: ["none", "config"],
    "limits.model_calls": [600, "default"],
  });
  expect(await from({ REPRISE_MODEL: "demo:two" })).toMatchObject({
    model: ["demo:two", "REPRISE_MODEL"],
  });
  expect((await other.call(["config", "get", "limits.children"])).stdout).toBe(
    `limits.children  3  ${folder}\n`,
  );
  const doctor = await other.call(["doctor"]);
  expect(doctor.stdout).toContain(`limits.children is 3, from ${folder}.`);
  expect(doctor.stdout).toContain("model is demo:one, from config.");

  for (const [args, sentence] of [
    [["modell", "x"], 'did you mean "model"?'],
    [["model", "nonsense"], "provider:model"],
    [["limits.children", "none"], "whole number"],
    [["permission.allow", '["write_fil"]'], "write_file"],
    [["protected", "x"], "must be a list"],
    [["model", "demo", "--folder", "./missing"], "The folder of --folder"],
  ] as const) {
    const { code, stderr } = await set(...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
  }
  expect(readFileSync(target, "utf8")).toBe(text);
});

it("[CONFIG-5] [CONFIG-6] [CONFIG-7] model, persona, limits, permissions and protected files of the config count", async () => {
  const home = await calling();
  const file = (name: string, text?: string): string | null => {
    const path = join(home.project, name);
    if (text !== undefined) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    return existsSync(path) ? readFileSync(path, "utf8") : null;
  };
  file("secrets/key.pem", "KEY-MATERIAL");
  file("deep/.env", "KEY-MATERIAL");
  file("notes.txt", "plain");
  const outside = temporaryFolder();
  writeConfig(home, {
    model: "openai:test",
    persona: "reviewer",
    permission: {
      mode: "edits",
      ask: ["write_file(asked/**)"],
      deny: ["write_file(gone/**)", "read_file(notes.txt)"],
    },
    protected: ["secrets", "**/.env", `${home.project}/absolute.txt`],
    limits: { tokens: { tree: 1_000_000 } },
    folders: {
      [home.project]: {
        persona: "assistant",
        permission: { allow: ["write_file(gone/back.txt)"] },
      },
      [outside]: { persona: "planner", permission: { mode: "ask" } },
    },
  });
  const sent = async (text: string, ...args: string[]) => {
    const { code, stdout } = await home.call(["-p", text, ...args]);
    return `${code} ${stdout.trim()}`;
  };
  expect(await sent("write_file new.txt text")).toContain("created new.txt");
  expect(await sessionsOf(home)).toMatchObject([
    { model: "openai:test", persona_name: "assistant" },
  ]);
  expect(await sent("write_file asked/a.txt text")).toMatch(/^7/);
  const denied = /denied by the rule write_file\(gone\/\*\*\) \(config\)/;
  const loosened = ["--permission", "all", "--allow", "write_file(gone/a.txt)"];
  expect(await sent("write_file gone/a.txt text", ...loosened)).toMatch(denied);
  expect(file("gone/a.txt")).toBeNull();
  expect(await sent("write_file gone/back.txt text")).toContain("created");
  expect(await sent("read_file notes.txt")).toMatch(/read_file\(notes\.txt\) \(config\)/);
  const read = await sent("read_file SECRETS/../secrets/key.pem", "--permission", "all");
  expect(read).not.toContain("KEY-MATERIAL");
  expect(await sent("read_file secrets/key.pem", "--permission", "all")).toContain(
    "the configuration protects it",
  );
  const searched = await sent("search_files . KEY-MATERIAL");
  expect(searched).not.toMatch(/\.env|key\.pem/);

  const explained = async (call: string) =>
    (await home.call(["permission", "explain", call])).stdout.trim();
  expect(await explained("write_file(asked/a.txt)")).toBe(
    "ask: rule write_file(asked/**) (config)",
  );
  expect(await explained("write_file(gone/back.txt)")).toBe(
    `allow: rule write_file(gone/back.txt) (config for ${home.project})`,
  );
  for (const call of [
    "read_file(deep/.env)",
    "write_file(.env)",
    "list_files(secrets)",
    "write_file(a/b/Secrets/x)",
    "write_file(absolute.txt)",
  ]) {
    expect(await explained(call)).toMatch(/^deny: rule protected \(fixed limit\)/);
  }
  const { stdout } = await home.call(["permission", "list"]);
  expect(stdout).toMatch(/^mode edits\n/);
  expect(stdout).toMatch(/^deny +\*\(secrets\) +protected$/m);
  expect(stdout).toMatch(/^deny +write_file\(gone\/\*\*\) +config$/m);

  const there = await home.call(["-p", "write_file x.txt text"], { cwd: outside });
  expect(there.code).toBe(7);
  expect(await sessionsOf(home)).toContainEqual(
    expect.objectContaining({ persona_name: "planner" }),
  );
});

it("[CONFIG-10] [CONFIG-11] the config of a trusted folder makes permissions stricter, and stops no session", async () => {
  const home = await calling();
  const repository = join(home.project, ".reprise/config.jsonc");
  mkdirSync(dirname(repository));
  writeFileSync(
    repository,
    `{"permission": {"ask": ["write_file(asked)"]}, "protected": ["kept"], "model": "demo"}`,
  );
  writeFileSync(join(home.project, "kept"), "KEY-MATERIAL");
  writeConfig(home, { model: "openai:test", permission: { mode: "edits" } });
  const before = await home.call(["-p", "write_file asked x"]);
  expect(before).toMatchObject({ code: 0 });
  expect(before.stderr).toMatch(/not trusted, so these are not used: \.reprise\/config\.jsonc \(8/);

  trustFolder(home.home, home.project);
  // a file that this session has not read would be refused before the question
  rmSync(join(home.project, "asked"));
  const asked = await home.call(["-p", "write_file asked x"]);
  expect(asked.code).toBe(7);
  expect(asked.stderr).toContain("The rule write_file(asked) (repository) asks.");
  // a longer permission would not help
  expect(asked.stderr).toMatch(/1\. allow once: .*\n *2\. deny: /);
  expect(asked.stderr).toContain("note: .reprise/config.jsonc:1:71 is not used.");
  expect((await home.call(["-p", "read_file kept"])).stdout).toContain("configuration protects");
  expect((await home.call(["doctor"])).stdout).toMatch(
    /^warning +config +\.reprise\/config\.jsonc:1:71/m,
  );
  expect((await home.call(["permission", "list"])).stdout).toMatch(
    /^ask +write_file\(asked\) +repository$/m,
  );
  expect((await home.call(["permission", "explain", "write_file(asked)"])).stdout).toBe(
    "ask: rule write_file(asked) (repository)\n",
  );
});

it("[CONFIG-14] [CONFIG-15] a key of the config reaches the provider only", async () => {
  const key = "sk-0123456789";
  const sent: (string | undefined)[] = [];
  const server = createServer(({ headers, url }, response) => {
    sent.push(headers.authorization);
    response.writeHead(url === "/v1/models" ? 200 : 401, { "content-type": "application/json" });
    response.end("{}");
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const home = freshHome({ OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` });
  const file = join(home.project, "key.txt");
  writeFileSync(file, `${key}\n`);
  expect(await home.call(["config", "set", "providers.openai.key_file", file])).toMatchObject({
    code: 0,
  });
  await home.call(["config", "set", "model", "openai:test"]);
  const refused = await home.call(["-p", "hi"]);
  expect(refused.stderr).toContain("model_unauthorized");
  expect(sent).toEqual([`Bearer ${key}`]);
  expect((await home.call(["permission", "explain", "read_file(key.txt)"])).stdout).toMatch(
    /^deny/,
  );
  const doctor = await home.call(["doctor", "--online"]);
  expect(doctor.stdout).toContain("providers.openai of the config");
  expect(doctor.stdout).toContain("can be reached");
  expect((await home.call(["doctor"], { env: { OPENAI_API_KEY: key } })).stdout).toContain(
    "OPENAI_API_KEY in the environment can be read in /proc/<pid>/environ",
  );
  writeFileSync(file, "");
  const failed = await home.call(["-p", "hi"]);
  expect([failed.code, failed.stderr]).toEqual([
    2,
    expect.stringContaining("providers.openai.key_file in the config gives no key"),
  ]);
});

it("[CONFIG-16] commands get the variables that the config names, and no secret", async () => {
  const server = await startModelServer({
    answer: (messages: readonly SentMessage[]) => {
      const { role, content = "" } = messages.at(-1) ?? { role: "" };
      const line = 'echo "mine=$MINE other=$OTHER key=$OPENAI_API_KEY token=$REPRISE_TOKEN"';
      return role === "user"
        ? { toolCalls: [{ name: "run_command", arguments: JSON.stringify({ line }) }] }
        : { content: `it is: ${content}` };
    },
  });
  const home = freshHome({
    ...server.env("openai"),
    MINE: "1",
    OTHER: "2",
    OPENAI_API_KEY: "sk-0123456789",
    REPRISE_TOKEN: "token-0123456789",
  });
  writeConfig(home, {
    model: "openai:test",
    permission: { mode: "all" },
    environment: ["MINE", "OPENAI_API_KEY", "REPRISE_TOKEN"],
  });
  expect((await home.call(["-p", "run"])).stdout).toContain("mine=1 other= key= token=\n");
});

it("[TERM-192] sessions answer in a terminal allows an edit, and all edits of the session from then on", async () => {
  const home = await calling();
  writeConfig(home, `{ "model": "openai:test" }`);
  expect((await home.call(["-p", "write_file a.txt one"])).code).toBe(7);
  const [{ id } = { id: "" }] = await sessionsOf(home);
  const terminal = openTerminal(home, `reprise sessions answer ${id} allow_edits`);
  expect((await terminal.finished).code).toBe(0);
  const shown = (await home.call(["sessions", "show", id, "--json"])).stdout;
  expect(JSON.parse(shown)).toMatchObject({ permission: "edits" });
  const { stdout } = await home.call(["--session", id, "--continue-exchange"]);
  expect(stdout).toContain("created a.txt");
});

it("[CONFIG-12] [CONFIG-13] a terminal alone offers to allow a call in the config, and permission remove takes it back", async () => {
  const home = await calling();
  writeConfig(home, `{\n  // mine\n  "model": "openai:test"\n}\n`);
  const terminal = openTerminal(home, "reprise");
  await terminal.shows(/> $/);
  terminal.type("write_file a.txt one\r");
  await terminal.shows(
    /4\. deny: [^\r\n]*\r?\n *5\. allow this and all edits: [^\r\n]*\r?\n *6\. always allow in this folder: \S+ \(in your config\)[^]*> $/,
  );
  const [{ id } = { id: "" }] = await sessionsOf(home);
  const { stdout } = await home.call(["sessions", "answer", id, "--json"]);
  expect(stdout).not.toContain("always allow in this folder");
  for (const answer of [
    "allow_folder",
    "always allow in this folder",
    "Always allow in this folder",
    "allow_edits",
    "Allow this and all edits",
  ]) {
    const refused = await home.call(["sessions", "answer", id, answer]);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining("terminal_required"),
    ]);
  }
  await using store = await openSqliteStore({ path: home.database });
  const [question] = await store.read(listOpenQuestions, { reference: id });
  const overHttp = {
    reference: id,
    question: question?.id ?? "",
    given: { choice: "allow_folder" },
    note: null,
    answered_by: "http",
  } as const;
  await expect(store.write(answerQuestion, overHttp)).rejects.toMatchObject({
    code: "terminal_required",
  });

  terminal.type("6\r");
  await terminal.shows(/Your config allows write_file\(a\.txt\) in [^]*it is: created[^]*> $/);
  terminal.type("write_file a.txt two\r");
  await terminal.shows(/it is: replaced[^]*> $/);
  terminal.type(CTRL_D);
  expect((await terminal.finished).code).toBe(0);
  const config = readFileSync(configOf(home), "utf8");
  expect(config).toContain("// mine");
  expect(config).toContain("write_file(a.txt)");
  rmSync(join(home.project, "a.txt"));
  expect(await home.call(["-p", "write_file a.txt three"])).toMatchObject({ code: 0 });
  expect(readFileSync(join(home.project, "a.txt"), "utf8")).toContain("three");
  expect(await home.call(["-p", "write_file a.txt x"], { cwd: temporaryFolder() })).toMatchObject({
    code: 7,
  });

  const remove = () => home.call(["permission", "remove", "config", "write_file(a.txt)"]);
  expect(await remove()).toMatchObject({ code: 0, stdout: "removed  write_file(a.txt)\n" });
  expect(await remove()).toMatchObject({ code: 2 });
  expect(readFileSync(configOf(home), "utf8")).toContain("// mine");
  rmSync(join(home.project, "a.txt"));
  expect(await home.call(["-p", "write_file a.txt four"])).toMatchObject({ code: 7 });
});
