import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { createClient } from "../../src/client/client.ts";
import { createSandboxProbe } from "../../src/workspace/sandbox/probe.ts";
import { type SentMessage, startModelServer } from "../helpers/model-server.ts";
import { freshHome } from "../helpers/reprise.ts";

const { reason } = await createSandboxProbe()();

const TOKEN = "named-token-0123456789abcdef0123456789";
/** What holds secrets of Reprise in these tests, and lies in the session's folder. */
const FILES = ["token.txt", "metrics.txt", "database.txt", "pgpass.txt", "settings.jsonc"];

/** An agent that reads each of the files, writes it, and runs `cat` on all of them. */
async function prying() {
  const calls: readonly (readonly [name: string, args: object])[] = [
    ...FILES.map((path) => ["read_file", { path }] as const),
    ...FILES.map((path) => ["write_file", { path, content: "{}" }] as const),
    ["run_command", { argv: ["cat", ...FILES] }],
  ];
  const server = await startModelServer({
    answer: (messages: readonly SentMessage[]) => {
      const results = messages.filter(({ role }) => role === "tool");
      const [name, args] = calls[results.length] ?? [];
      return name === undefined
        ? { content: results.map(({ content }) => content).join("\n") }
        : { toolCalls: [{ name, arguments: JSON.stringify(args) }] };
    },
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  const file = (name: string): string => join(home.project, name);
  for (const name of FILES) {
    writeFileSync(file(name), `secret-of-${name}\n`);
  }
  writeFileSync(file("database.txt"), `${home.database}\n`);
  writeFileSync(file("token.txt"), `${TOKEN}\n`);
  writeFileSync(file("metrics.txt"), `${TOKEN}-of-metrics\n`);
  writeFileSync(file("settings.jsonc"), `{ "permission": { "mode": "auto" } } // secret-of-mine\n`);
  mkdirSync(join(home.home, ".config/reprise"), { recursive: true });
  symlinkSync(file("settings.jsonc"), join(home.home, ".config/reprise/config.jsonc"));
  const before = FILES.map((name) => readFileSync(file(name), "utf8"));
  const env = { REPRISE_DATABASE_FILE: file("database.txt"), PGPASSFILE: file("pgpass.txt") };
  return {
    home,
    env,
    untouched: () => expect(FILES.map((name) => readFileSync(file(name), "utf8"))).toEqual(before),
  };
}

it("[PERMISSION-35] [SANDBOX-30] files with secrets that variables name are out of reach, and so is a config that is a link", async () => {
  const { home, env } = await prying();
  const { code, stdout } = await home.call(["-p", "pry", "--no-questions"], { env });
  // its own files are denied to the agent
  expect(code).toBe(8);
  expect(stdout).toContain(TOKEN);
  for (const secret of [home.database, "secret-of-pgpass", "secret-of-mine"]) {
    expect(stdout).not.toContain(secret);
  }
  expect(stdout.match(/belongs to Reprise/g)).toHaveLength(6);
  expect(stdout).toMatch(reason === null ? /exit code 0 after/ : /denied/);
  expect(readFileSync(join(home.project, "token.txt"), "utf8")).toBe("{}");
});

it("[PERMISSION-35] [SANDBOX-30] a service's agent does not reach the files of its tokens", async () => {
  const { home, env, untouched } = await prying();
  const tokens = ["--token-file", "token.txt", "--metrics-token-file", "metrics.txt"];
  const service = home.start(["serve", "--port", "0", "--repos", home.project, ...tokens], { env });
  await service.waitFor(/^version .+\n/m);
  const [, url = ""] = /^listening on (\S+)$/m.exec(service.stdout()) ?? [];
  const client = createClient({ baseUrl: url, token: TOKEN });
  const { id } = await client.createSession({ repo_path: home.project });
  await client.queueExchange(id, "pry");
  const activity = async () => (await client.getSession(id)).activity;
  // the command asks: commands of a service need a yes
  await expect.poll(activity).toBe("interrupted");
  untouched();
  const { stdout } = await home.call(["sessions", "show", id, "--all"]);
  expect(stdout.match(/belongs to Reprise/g)).toHaveLength(2 * FILES.length);
  await service.stop("SIGTERM");
});
