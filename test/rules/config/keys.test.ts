import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { createSettings } from "../../../src/rules/config/settings.ts";
import { withKey } from "../../../src/rules/models/config.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const KEY = "sk-from-the-config";

/** The settings of a config with this source of OpenAI's key. */
function settingsWith(openai: unknown, env: Readonly<Record<string, string>> = {}) {
  const folder = temporaryFolder();
  const file = join(folder, "config.jsonc");
  writeFileSync(file, JSON.stringify({ providers: { openai } }));
  const settings = createSettings({ env: { PATH: "/usr/bin:/bin", ...env }, file, home: folder });
  const key = async () => {
    const { models } = await settings.at(null);
    return (await withKey(models, "openai")).providers["openai"]?.apiKey;
  };
  return { folder, settings, key };
}

it("[CONFIG-14] reads a key from a file each time, and protects the file", async () => {
  const { folder, settings, key } = settingsWith({ key_file: "~/key" });
  const file = join(folder, "key");
  await expect(key()).rejects.toMatchObject({
    code: "config_invalid",
    message: expect.stringContaining("providers.openai.key_file"),
  });
  writeFileSync(file, `${KEY}\n`);
  expect(await key()).toBe(KEY);
  writeFileSync(file, "another\n");
  expect(await key()).toBe("another");
  expect((await settings.at(null)).protected).toEqual([{ path: file }]);
  for (const content of ["", "two\nlines", "a b", `${KEY}\0`, "x".repeat(100_000)]) {
    writeFileSync(file, content);
    await expect(key()).rejects.toMatchObject({
      message: expect.not.stringContaining(KEY),
    });
  }
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  await expect(settingsWith({ key_file: pipe }).key()).rejects.toThrow("gives no key");
  mkdirSync(join(folder, "folder"));
  await expect(settingsWith({ key_file: join(folder, "folder") }).key()).rejects.toThrow("no key");
});

it("[CONFIG-15] takes what a command prints, which is run without a shell and kept", async () => {
  const folder = temporaryFolder();
  const program = join(folder, "key program");
  const count = join(folder, "count");
  writeFileSync(program, `#!/bin/sh\necho run >> "${count}"\necho "$1-$ADDED"\n`);
  chmodSync(program, 0o755);
  const { key } = settingsWith({ key_command: [program, "$HOME;`id`"] }, { ADDED: "x" });
  const runs = () => readFileSync(count, "utf8").split("\n").length - 1;
  expect(await Promise.all([key(), key()])).toEqual(["$HOME;`id`-x", "$HOME;`id`-x"]);
  expect(runs()).toBe(1);
  for (const command of [
    ["/nowhere/at-all"],
    ["sh", "-c", `echo ${KEY}; exit 1`],
    ["sh", "-c", `echo ${KEY} >&2`],
    ["sh", "-c", "cat"],
    ["yes"],
    [temporaryFolder()],
    ["sh", "-c", "kill -9 $$"],
  ]) {
    const failed = settingsWith({ key_command: command });
    await expect(failed.key()).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.not.stringContaining(KEY),
    });
  }
});

it("[CONFIG-14] prefers the environment, and runs nothing before a key is needed", async () => {
  const ran = join(temporaryFolder(), "ran");
  const { settings } = settingsWith({ key_command: ["touch", ran] }, { OPENAI_API_KEY: KEY });
  const { models } = await settings.at(null);
  expect((await withKey(models, "openai")).providers["openai"]?.apiKey).toBe(KEY);
  expect(
    (await settingsWith({ key_command: ["touch", ran] }).settings.at(null)).models.providers[
      "openai"
    ],
  ).toMatchObject({
    apiKey: null,
  });
  expect(() => readFileSync(ran)).toThrow("ENOENT");
});
