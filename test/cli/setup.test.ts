import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { type ProviderName, startProvider } from "../helpers/providers/start.ts";
import { call, type Step, text } from "../helpers/providers/steps.ts";
import { sampleOf, seededRandom } from "../helpers/random.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { openScreen } from "../helpers/screen.ts";
import { testSize } from "../helpers/size.ts";
import { openTerminal } from "../helpers/terminal.ts";

const KEY = "sk-canary-0123456789abcdef";

/** Answers the test call, then a message with a tool call. */
async function provider(name: ProviderName, first: readonly Step[] = [text("pong")]) {
  const server = await startProvider(name, (index) =>
    index === 0
      ? first
      : index === 1
        ? [call("list_files", {})]
        : [text("There is one file, notes.md.")],
  );
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

/** A home with no key, and the address of the mock in place of the provider's own. */
function homeOf(env: Readonly<Record<string, string>>): Home {
  const addresses = Object.entries(env).filter(([name]) => /_BASE_URL$|_TOKENS$/.test(name));
  const home = freshHome(Object.fromEntries(addresses));
  writeFileSync(join(home.project, "notes.md"), "notes\n");
  return home;
}

const configOf = (home: Home): string => join(home.home, ".config/reprise/config.jsonc");
const keyFileOf = (home: Home, name: string): string =>
  join(home.home, ".config/reprise/keys", name);
const modeOf = (path: string): number => statSync(path).mode & 0o777;

const APIS: readonly {
  readonly api: string;
  readonly name: ProviderName;
  readonly entry?: string;
  readonly path: string;
}[] = [
  { api: "Anthropic's Messages", name: "anthropic", path: "/v1/messages" },
  { api: "Chat Completions", name: "openai", path: "/v1/chat/completions" },
  { api: "Responses", name: "openai", entry: '"api": "responses"', path: "/v1/responses" },
  { api: "Ollama", name: "ollama", path: "/api/chat" },
];

it.each(sampleOf(APIS, testSize("setup-apis"), seededRandom("setup-apis")))(
  "[CLI-340] [CLI-341] setup in a terminal, then a conversation with a tool call: $api",
  async ({ name, entry, path }) => {
    const server = await provider(name);
    const home = homeOf(server.env);
    mkdirSync(join(home.home, ".config/reprise"), { recursive: true });
    const before = `// mine\n{\n  "theme": "dark", // at night\n  "providers": { "${name}": { ${entry ?? ""} } },\n}\n`;
    writeFileSync(configOf(home), before);
    const terminal = openTerminal(home, "reprise setup");
    await terminal.shows(/Provider \(number or name\): $/);
    terminal.type(`${name}\r`);
    if (name === "ollama") {
      await terminal.shows(/Address \[.*\]: $/);
      terminal.type("\r");
    } else {
      await terminal.shows(/it is not shown\): $/);
      terminal.type(`${KEY}\r`);
    }
    await terminal.shows(/Model \(number or name\).*: $/);
    terminal.type("test\r");
    await terminal.shows(new RegExp(`${name}:test answers\\.`));
    const { code, screen } = await terminal.finished;
    expect(code).toBe(0);
    expect(screen).not.toContain(KEY);
    expect(terminal.written()).not.toContain("canary");
    const config = readFileSync(configOf(home), "utf8");
    expect(config).toContain('// mine\n{\n  "theme": "dark", // at night\n');
    expect(config).not.toContain(KEY);
    expect(config).toContain(`"model": "${name}:test"`);
    if (name !== "ollama") {
      expect(readFileSync(keyFileOf(home, name), "utf8")).toBe(`${KEY}\n`);
      expect(modeOf(keyFileOf(home, name))).toBe(0o600);
      expect(modeOf(join(home.home, ".config/reprise/keys"))).toBe(0o700);
      expect(config).toContain(`"key_file": "~/.config/reprise/keys/${name}"`);
    }
    const answer = await home.call(["-p", "What is here?"]);
    expect(answer).toMatchObject({ code: 0, stdout: "There is one file, notes.md.\n" });
    expect(server.refusals()).toEqual([]);
    expect(server.received.map((each) => each.path)).toEqual([path, path, path]);
    if (name !== "ollama") {
      const { headers } = server.received[1] ?? {};
      expect(headers?.["x-api-key"] ?? headers?.authorization).toContain(KEY);
    }
  },
);

it("[CLI-340] a terminal shows nothing of a key that is pasted with the line before it", async () => {
  const home = homeOf((await provider("anthropic")).env);
  const terminal = openTerminal(home, "reprise setup");
  await terminal.shows(/Provider \(number or name\): $/);
  terminal.type(`anthropic\n${KEY}\n`);
  await terminal.shows(/it is not shown\): $/);
  terminal.type(`${KEY}\r`);
  await terminal.shows(/Model \(number or name\).*: $/);
  terminal.type("test\r");
  expect((await terminal.finished).code).toBe(0);
  expect(terminal.written()).not.toContain("canary");
});

it("[CLI-342] a script gives all facts, and gets one line of JSON", async () => {
  const server = await provider("anthropic");
  const home = homeOf(server.env);
  const file = join(home.home, "key");
  writeFileSync(file, `${KEY}\n`, { mode: 0o600 });
  const { code, stdout, stderr } = await home.call(
    ["setup", "--provider", "anthropic", "--key-file", file].concat("--model", "test", "--json"),
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toEqual({
    provider: "anthropic",
    model: "anthropic:test",
    tested: true,
    config: configOf(home),
    key_file: null,
  });
  expect(JSON.parse(readFileSync(configOf(home), "utf8"))).toEqual({
    providers: { anthropic: { key_file: "~/key", base_url: server.env["ANTHROPIC_BASE_URL"] } },
    model: "anthropic:test",
  });
});

it("[CLI-370] an address of the environment is kept with the key that was tested there", async () => {
  const server = await provider("openai");
  const address = server.env["OPENAI_BASE_URL"];
  const home = homeOf(server.env);
  const { code, stderr } = await home.call(["setup"], { input: `openai\n${KEY}\ntest\n` });
  expect(code).toBe(0);
  expect(stderr).not.toContain("counts before the config");
  const config = JSON.parse(readFileSync(configOf(home), "utf8"));
  expect(config.providers.openai.base_url).toBe(address);
  for (const env of [{}, { OPENAI_BASE_URL: "" }]) {
    expect((await home.call(["-p", "What is here?"], { env })).code).toBe(0);
  }
  const keys = server.received.map(({ headers }) => headers.authorization);
  expect(new Set(keys)).toEqual(new Set([`Bearer ${KEY}`]));
});

it("[CLI-370] so is the variable of the key", async () => {
  const server = await provider("openai");
  const home = freshHome({ OPENAI_API_KEY: KEY });
  const address = { OPENAI_BASE_URL: server.env["OPENAI_BASE_URL"] ?? "" };
  const args = ["setup", "--provider", "openai", "--model", "test"];
  expect((await home.call(args, { env: address })).code).toBe(0);
  expect(JSON.parse(readFileSync(configOf(home), "utf8")).providers).toEqual({
    openai: { key_env: "OPENAI_API_KEY", base_url: address.OPENAI_BASE_URL },
  });
  expect((await home.call(["-p", "What is here?"])).code).toBe(0);
});

it("[CLI-370] at another address than the provider's own, no model of the table is proposed", async () => {
  const server = await provider("openai");
  const home = freshHome({ OPENAI_API_KEY: KEY });
  const address = [
    "--base-url",
    server.env["OPENAI_BASE_URL"] ?? "",
    "--key-env",
    "OPENAI_API_KEY",
  ];
  const { code, stderr } = await home.call(["setup", "--provider", "openai", ...address]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("Give --model <name>.")]);
  expect(server.received).toEqual([]);
});

it.each([
  [["--json"], /The provider is missing/],
  [["--provider", "openai"], /The key is missing\. Give --key-file/],
  [["--provider", "nobody"], /There is no provider of this name/],
  [["--provider", "azure", "--key-env", "HOME"], /Give --base-url/],
  [["--provider", "openai", "--key-env", "NOT_SET"], /is not set/],
  [
    ["--provider", "openai", "--key-file", "nowhere"],
    /^reprise: --key-file gives no key\. .*\[invalid_usage\]$/m,
  ],
  [["--provider", "openai", "--key-file", "a", "--key-env", "HOME"], /not several/],
  [["--provider", "vllm", "--base-url", "127.0.0.1"], /with its scheme/],
  [["--provider", "openai", "--key-file", "nowhere", "--no-test"], /--key-file gives no key/],
  [["--provider", "openai", "--key-command", "false"], /--key-command gives no key/],
  [["--provider", "vllm", "--no-test"], /The model is missing/],
  [[], /Nothing was kept: the provider is missing\./],
])("[CLI-342] setup %j ends with 2 and keeps nothing", async (args, sentence) => {
  const home = freshHome();
  const { code, stderr } = await home.call(["setup", ...args]);
  expect(stderr).toMatch(sentence);
  expect(code).toBe(2);
  expect(() => statSync(configOf(home))).toThrow("ENOENT");
});

const FAILURES: readonly (readonly [string, Step, RegExp])[] = [
  [
    "a wrong key",
    {
      kind: "status",
      status: 401,
      error: { type: "authentication_error", message: `invalid x-api-key ${KEY}` },
    },
    /Anthropic refused the key/,
  ],
  [
    "an unknown model",
    { kind: "status", status: 404, error: { type: "not_found_error" } },
    /does not know this model/,
  ],
  ["no credit", { kind: "status", status: 402 }, /quota or credit is used up/],
];

it.each(FAILURES)(
  "[CLI-343] after a test that failed nothing is kept: %s",
  async (_, step, sentence) => {
    const server = await provider("anthropic", [step]);
    const home = homeOf(server.env);
    const { code, stdout, stderr } = await home.call(["setup"], {
      input: `anthropic\n${KEY}\ntest\n\n`,
    });
    expect(stderr).toMatch(sentence);
    expect(stderr).toContain("Nothing was kept.");
    expect(code).toBe(1);
    expect(stdout + stderr).not.toContain("canary");
    expect(() => statSync(configOf(home))).toThrow("ENOENT");
    expect(() => statSync(keyFileOf(home, "anthropic"))).toThrow("ENOENT");
  },
);

it("[CLI-343] a person may give another key, or keep what failed", async () => {
  const refusal: Step = { kind: "status", status: 401, error: { type: "authentication_error" } };
  const server = await startProvider("anthropic", () => [refusal]);
  onTestFinished(() => server[Symbol.asyncDispose]());
  const home = homeOf(server.env);
  const { code, stderr } = await home.call(["setup"], {
    input: `1\n${KEY}-wrong\ntest\n1\n${KEY}\n4\n`,
  });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(readFileSync(keyFileOf(home, "anthropic"), "utf8")).toBe(`${KEY}\n`);
  expect(server.received.map(({ headers }) => headers["x-api-key"])).toEqual([`${KEY}-wrong`, KEY]);
});

it("[CLI-343] says when the provider cannot be reached", async () => {
  const home = freshHome({ OLLAMA_BASE_URL: "http://127.0.0.1:9" });
  const { code, stderr } = await home.call(["setup", "--provider", "ollama", "--model", "test"]);
  expect(stderr).toMatch(/Ollama cannot be reached/);
  expect(code).toBe(1);
  const kept = await home.call(
    ["setup", "--provider", "ollama", "--model", "test", "--no-test"].concat(
      "--base-url",
      "http://127.0.0.1:11434",
    ),
  );
  expect(kept.code).toBe(0);
  expect(kept.stderr).toContain("OLLAMA_BASE_URL is set here and counts before the config");
  expect(readFileSync(configOf(home), "utf8")).toContain('"base_url": "http://127.0.0.1:11434"');
});

it("[CLI-344] /connect leaves the screen for the dialog and comes back", async () => {
  const server = await provider("anthropic");
  const home = homeOf(server.env);
  const screen = openScreen(home, "reprise");
  await screen.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type("/connect\r");
  await screen.until(/Provider \(number or name\):/);
  screen.type("anthropic\r");
  await screen.until(/it is not shown\):/);
  screen.type(`${KEY}\r`);
  await screen.until(/Model \(number or name\)/);
  screen.type("test\r");
  await screen.until(/^anthropic:test answers here\.$[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
  screen.type("What is here?\r");
  await screen.until(/There is one file, notes\.md\./);
  expect(screen.everything().join("\n")).not.toContain("canary");
});

it("[CLI-344] /connect in plain lines", async () => {
  const server = await provider("anthropic");
  const home = homeOf(server.env);
  const terminal = openTerminal(home, "reprise --plain");
  await terminal.shows(/> $/);
  terminal.type("/connect\r");
  await terminal.shows(/Provider \(number or name\): $/);
  terminal.type("anthropic\r");
  await terminal.shows(/it is not shown\): $/);
  terminal.type(`${KEY}\r`);
  await terminal.shows(/Model \(number or name\).*: $/);
  terminal.type("test\r");
  await terminal.shows(/anthropic:test answers here\.\n> $/);
  terminal.type("What is here?\r");
  await terminal.shows(/There is one file, notes\.md\./);
  expect(terminal.written()).not.toContain("canary");
});
