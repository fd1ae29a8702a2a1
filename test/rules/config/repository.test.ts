import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, it } from "vitest";

import { lowered, loweredSandbox, repositoryConfig } from "../../../src/rules/config/repository.ts";
import { EXCHANGE_LIMITS } from "../../../src/core/exchange-limits.ts";
import { SANDBOX_LIMITS } from "../../../src/workspace/sandbox/policy.ts";
import { temporaryFolder } from "../../helpers/temp.ts";
import { TRUSTED, UNTRUSTED } from "../../helpers/trust.ts";

const MIB = 1024 * 1024;
const NOTHING = { layers: [], protected: [], limits: {}, sandbox: {}, hooks: [], problems: [] };

function folderWith(content: string | Uint8Array): {
  readonly folder: string;
  readonly file: string;
} {
  const folder = temporaryFolder();
  const file = join(folder, ".reprise/config.jsonc");
  mkdirSync(dirname(file));
  writeFileSync(file, content);
  return { folder, file };
}

const read = (content: string | Uint8Array) =>
  repositoryConfig(folderWith(content).folder, TRUSTED);

it("[CONFIG-10] [CONFIG-17] takes rules that ask and deny, protected patterns and lower limits, in trusted folders", async () => {
  const { folder } = folderWith(`{
    // for all who work here
    "permission": { "ask": ["write_file(migrations/**)"], "deny": ["delegate"] },
    "protected": ["secrets"], "limits": { "model_calls": 5 },
    "sandbox": { "limits": { "memory_mib": 64, "processes": 1000 } },
  }`);
  expect(await repositoryConfig(folder, UNTRUSTED)).toEqual(NOTHING);
  expect(await repositoryConfig(null, TRUSTED)).toEqual(NOTHING);
  expect(await repositoryConfig(temporaryFolder(), TRUSTED)).toEqual(NOTHING);
  expect(await repositoryConfig(folder, TRUSTED)).toEqual({
    layers: [
      {
        name: "repository",
        rules: [
          { effect: "ask", tool: "write_file", pattern: "migrations/**" },
          { effect: "deny", tool: "delegate", pattern: null },
        ],
      },
    ],
    protected: [{ pattern: "secrets" }],
    limits: { modelCalls: 5 },
    sandbox: { memory: 64 * MIB, processes: 1000 },
    hooks: [],
    problems: [],
  });
  expect(loweredSandbox({ file: MIB }, { memory: 64 * MIB, processes: 1000 })).toEqual({
    ...SANDBOX_LIMITS,
    file: MIB,
    memory: 64 * MIB,
  });
  expect(lowered(EXCHANGE_LIMITS, { modelCalls: 5, children: 1_000_000 })).toEqual({
    ...EXCHANGE_LIMITS,
    modelCalls: 5,
  });
});

it("[CONFIG-18] cannot make anything of the home visible", async () => {
  const { problems, ...others } = await read(
    `{"sandbox": {"visible": ["~/.ssh"], "limits": {"processes": 9}}}`,
  );
  expect(others).toMatchObject({ sandbox: { processes: 9 } });
  expect(others).not.toHaveProperty("visible");
  expect(problems[0]).toMatch(/config\.jsonc:1:14 is not used\. There is no such key/);
});

it("[CONFIG-11] leaves out what it cannot use, names the place, and uses the rest", async () => {
  const secret = "sk-a-secret";
  const mixed = await read(`{
    "model": "${secret}", "__proto__": {"limits": {"children": 1}}, "providers": {"openai": {"key_command": ["id"]}},
    "permission": { "allow": ["write_file"], "mode": "all", "deny": ["${secret}", "delegate"] },
    "protected": ["../x", "/etc", "secrets"], "limits": { "children": 0, "model_calls": 3 }
  }`);
  expect(mixed).toMatchObject({
    layers: [{ rules: [{ effect: "deny", tool: "delegate" }] }],
    protected: [{ pattern: "secrets" }],
    limits: { modelCalls: 3 },
  });
  expect(mixed.limits).not.toHaveProperty("children");
  expect(mixed.problems).toHaveLength(5);
  expect(mixed.problems[0]).toMatch(
    /^\.reprise\/config\.jsonc:2:5 is not used\. There is no such key/,
  );
  expect(JSON.stringify(mixed)).not.toContain(secret);

  for (const [content, problem] of [
    [`{"limits": `, /:1:12 is not used/],
    ["[".repeat(200_000), /nested/],
    [`{"a": 1`.repeat(20_000), /is not used/],
    [`{}${" ".repeat(10 * 1024 * 1024)}`, /larger than 256 KiB/],
    [Buffer.from([0x7b, 0xff, 0x00, 0x7d]), /is not used/],
    ["[]", /must be an object/],
  ] as const) {
    const { problems, ...others } = await read(content);
    expect(others).toEqual({ layers: [], protected: [], limits: {}, sandbox: {}, hooks: [] });
    expect(problems[0]).toMatch(problem);
  }
  expect(await read(`\u{FEFF}{"limits": {"children": 2}}`)).toMatchObject({
    limits: { children: 2 },
  });
});

it("[CONFIG-11] waits for no pipe and follows no link out of the folder", async () => {
  const { folder, file } = folderWith("");
  const outside = folderWith(`{"limits": {"children": 1}}`);
  rmSync(file);
  const problem = async () => (await repositoryConfig(folder, TRUSTED)).problems;
  symlinkSync(outside.file, file);
  expect(await problem()).toEqual([expect.stringContaining("leads out of the folder")]);
  rmSync(file);
  execFileSync("mkfifo", [file]);
  expect(await problem()).toEqual([expect.stringContaining("is not a file")]);
  rmSync(file);
  mkdirSync(file);
  expect(await problem()).toEqual([expect.stringContaining("is not a file")]);
});
