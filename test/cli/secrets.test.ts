import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, it } from "vitest";

import { type SentMessage, startModelServer } from "../helpers/model-server.ts";
import { freshHome } from "../helpers/reprise.ts";
import { sessionsOf } from "../helpers/sessions/seed.ts";

const KEY = "sk-canary-provider-0123456789abcdefghijklmnop";
const TOKEN = "canary-service-0123456789abcdefghijklmnopqrst";
const MADE = "c0ffee1e".repeat(8);
const IN_FILE = "canary-key-of-file-0123456789abcdefghijklmno";
const CANARIES = [KEY, TOKEN, MADE, IN_FILE];

const CALLS = [
  ["read_file", { path: "settings.txt" }],
  ["search_files", { text: "key" }],
  ["list_files", {}],
  ["edit_file", { path: "settings.txt", old_text: "[OPENAI_API_KEY]", new_text: "x" }],
  ["edit_file", { path: "settings.txt", old_text: "color=red", new_text: "color=blue" }],
] as const;

it("[PERMISSION-70] [PERMISSION-71] [PERMISSION-72] the program's own secrets in files of a repository reach neither database, export nor screen", async () => {
  const server = await startModelServer({
    answer: (messages: readonly SentMessage[]) => {
      const [name, args] = CALLS[messages.filter(({ role }) => role === "tool").length] ?? [];
      return name === undefined
        ? { content: `It was: ${messages.map(({ content }) => content).join("\n")}` }
        : { toolCalls: [{ name, arguments: JSON.stringify(args) }] };
    },
  });
  const home = freshHome({
    ...server.env("openai"),
    REPRISE_MODEL: "openai:test",
    OPENAI_API_KEY: KEY,
    REPRISE_TOKEN: TOKEN,
  });
  const made = join(home.home, ".local/state/reprise/token");
  mkdirSync(dirname(made), { recursive: true });
  writeFileSync(made, `${MADE}\n`, { mode: 0o600 });
  const keyFile = join(home.home, "key");
  writeFileSync(keyFile, `${IN_FILE}\n`, { mode: 0o600 });
  const config = join(home.home, ".config/reprise/config.jsonc");
  mkdirSync(dirname(config), { recursive: true });
  writeFileSync(config, JSON.stringify({ providers: { anthropic: { key_file: keyFile } } }));
  const file = join(home.project, "settings.txt");
  writeFileSync(file, `key=${KEY}\ncolor=red\ntokens=${TOKEN},${MADE}\nother=${IN_FILE}\n`);
  writeFileSync(join(home.project, `${KEY}.txt`), "");

  const outputs: string[] = [];
  const call = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await home.call(args);
    outputs.push(stdout, stderr);
    return code;
  };
  expect(await call("-p", "change the color")).toBe(7);
  expect(outputs.join("")).toMatch(
    / key=\[OPENAI_API_KEY\]\n.*-color=red\n.*\+color=blue\n.* tokens=\[REPRISE_TOKEN\],\[REPRISE_TOKEN\]/,
  );
  const [session] = await sessionsOf(home);
  const id = session?.id ?? "";
  expect(await call("sessions", "answer", id, "--json")).toBe(0);
  expect(await call("sessions", "answer", id, "allow once")).toBe(0);
  expect(await call("--session", id, "--continue-exchange", "--json=events")).toBe(0);
  expect(readFileSync(file, "utf8")).toContain(`key=${KEY}\ncolor=blue`);
  expect(await call("sessions", "show", id, "--all")).toBe(0);
  expect(await call("sessions", "export", id)).toBe(0);
  expect(await call("sessions", "changes", id)).toBe(0);
  expect(outputs.at(-2)).toContain("-color=red\n  +color=blue\n   tokens=[REPRISE_TOKEN]");
  expect(await call("sessions", "undo", id, "--dry-run", "--json")).toBe(0);
  expect(outputs.at(-2)).toContain("other=[ANTHROPIC_API_KEY]");
  expect(await call("doctor")).toBe(0);

  const folder = dirname(home.database);
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"));
  const sent = JSON.stringify(server.requests());
  expect(sent).toContain("[OPENAI_API_KEY].txt");
  expect(sent).toContain("old_text is not in the file");
  for (const canary of CANARIES) {
    for (const text of [...outputs, ...files, sent]) {
      expect(text).not.toContain(canary);
    }
  }
});

it("[PERMISSION-71] a pipe in the place of the token is not waited for", async () => {
  const server = await startModelServer({ answer: () => ({ content: "done" }) });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  const state = join(home.home, ".local/state/reprise");
  mkdirSync(state, { recursive: true });
  execFileSync("mkfifo", ["-m", "600", join(state, "token")]);
  expect((await home.call(["-p", "hello"])).stdout).toBe("done\n");
});
