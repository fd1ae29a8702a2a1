import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, it } from "vitest";

import { startModelServer } from "../helpers/model-server.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { idLike, seed } from "../helpers/sessions/seed.ts";
import { plantedSecrets } from "../core/redact/planted.ts";

const ID = idLike("abcdef1");
const HOSTILE =
  "</pre></main><script>alert(1)</script><img src=x onerror=alert(1)>\n```\n# out\n````\n<!-- \u001b[2J -->";

/** A session in which the agent changed a file, with this message and file. */
async function worked(message: string, content: string): Promise<Home> {
  const steps = [
    { name: "write_file", arguments: JSON.stringify({ path: "src/price.ts", content }) },
    {
      name: "delegate",
      arguments: JSON.stringify({ persona: "assistant", task: `check ${message}` }),
    },
  ];
  const server = await startModelServer({
    answer: (messages) => {
      const last = String(messages.at(-1)?.content);
      const step = last.startsWith("check ") ? undefined : steps.shift();
      return step === undefined ? { content: `Done. ${message}` } : { toolCalls: [step] };
    },
  });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
  writeFileSync(join(home.project, "README.md"), "old\n");
  const { code, stderr } = await home.call(["--session", ID, "--permission", "all", "-p", message]);
  expect(code, stderr).toBe(0);
  return home;
}

const exported = async (home: Home, ...options: readonly string[]) =>
  home.call(["sessions", "export", ID, ...options]);

it("[EXPORT-1] [EXPORT-2] a page holds the whole session, needs nothing else and runs nothing", async () => {
  const home = await worked(HOSTILE, `export const price = 1;\n${HOSTILE}\n`);
  const { stdout, code } = await exported(home, "--format", "html");
  expect(code).toBe(0);
  const tags = new Set([...stdout.matchAll(/<\/?([a-z][a-z0-9]*)/gi)].map(([, tag]) => tag));
  expect([...tags]).not.toContain("script");
  expect([...tags]).not.toContain("img");
  expect(stdout).not.toMatch(/<[^>]*\son\w+=/);
  expect(stdout).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
  expect(stdout).toMatch(/http-equiv="Content-Security-Policy" content="default-src 'none'; style/);
  expect(stdout).toContain("<code>write_file</code>");
  expect(stdout).toContain("<ins>+export const price = 1;</ins>");
  expect(stdout.match(/<b>Sub-agent<\/b>/g)).toHaveLength(1);
  expect((await exported(home, "--format", "html")).stdout).toBe(stdout);
});

it("[EXPORT-1] Markdown has the diffs, the sub-agents and nothing that a text begins", async () => {
  const home = await worked(HOSTILE, `export const price = 1;\n${HOSTILE}\n`);
  const { stdout } = await exported(home, "--format", "md");
  expect(stdout).toContain("+export const price = 1;\n");
  expect(stdout).toMatch(/^## Sub-agent: /m);
  expect(stdout).toMatch(/^- cost|^- tokens/m);
  expect(stdout).not.toContain("\u001b");
});

it("[EXPORT-4] [EXPORT-5] [EXPORT-7] --redact leaves no secret in any format, and its JSON is imported", async () => {
  const planted = plantedSecrets(7, 10);
  const text = planted.map((each) => each.text).join("\n");
  const home = await worked(text, `${text}\n`);
  for (const format of ["json", "md", "html"]) {
    const { stdout, stderr, code } = await exported(home, "--format", format, "--redact");
    expect([format, code, stderr]).toEqual([format, 0, ""]);
    const read = format === "html" ? stdout.replaceAll("&quot;", '"') : stdout;
    const left = planted.filter(
      ({ secret }) => read.includes(secret) || read.includes(JSON.stringify(secret).slice(1, -1)),
    );
    expect([format, left]).toEqual([format, []]);
    const preview = await exported(home, "--format", format, "--redact", "--preview");
    expect(preview.stdout).toMatch(/^message 1: github pat, ghp_… \(40 characters\)$/m);
    expect(planted.filter(({ secret }) => preview.stdout.includes(secret))).toEqual([]);
    if (format === "json") {
      const other = freshHome();
      const imported = await other.call(["sessions", "import", "-"], { input: stdout });
      expect([imported.code, imported.stderr]).toEqual([0, expect.any(String)]);
      expect((await other.call(["sessions", "verify"])).code).toBe(0);
    }
  }
  expect((await exported(home, "--preview")).code).toBe(2);
});

it("[EXPORT-4] texts of the config are left out", async () => {
  const home = freshHome();
  await seed(home, { id: ID, messages: ["the acme-blue-7 plan"] });
  const config = join(home.home, ".config/reprise/config.jsonc");
  mkdirSync(dirname(config), { recursive: true });
  writeFileSync(config, '{ "redact": ["acme-*"] }');
  const { stdout } = await exported(home, "--format", "md", "--redact");
  expect(stdout).toContain("the [redacted: pattern] plan\n");
  writeFileSync(config, '{ "redact": ["*"] }');
  expect((await exported(home, "--format", "md", "--redact")).code).not.toBe(0);
});
