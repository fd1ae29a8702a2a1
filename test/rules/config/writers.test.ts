import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

import { checkUserConfig } from "../../../src/rules/config/load-config.ts";
import { changeConfig } from "../../../src/rules/config/write-config.ts";
import { startProcess } from "../../helpers/process.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const WRITER = fileURLToPath(new URL("../../fixtures/programs/write-config.ts", import.meta.url));

function newConfig(): { readonly file: string; readonly folder: string } {
  const folder = temporaryFolder();
  const file = join(folder, "config.jsonc");
  writeFileSync(file, `{\n  "permission": {\n    // mine\n    "allow": [] // all\n  }\n}\n`);
  return { file, folder };
}

function rulesIn(file: string): readonly string[] {
  const text = readFileSync(file, "utf8");
  expect(text).toContain("// mine");
  expect(text).toContain("// all");
  const { config, problems } = checkUserConfig(text, "/");
  expect(problems).toEqual([]);
  return (config?.rules ?? []).map(({ pattern }) => pattern ?? "");
}

const start = (file: string, name: string, count: number) =>
  startProcess(process.execPath, [WRITER, file, name, String(count)], { env: {} });

it("[CONFIG-4] several processes that change the file at once lose nothing", async () => {
  const { file, folder } = newConfig();
  const names = ["a", "b", "c"];
  const ended = await Promise.all(names.map((name) => start(file, name, 10).finished));
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
  const expected = names.flatMap((name) => Array.from({ length: 10 }, (_, at) => `${name}/${at}`));
  expect(rulesIn(file).toSorted()).toEqual(expected.toSorted());
  expect(readdirSync(folder)).toEqual(["config.jsonc"]);
});

it("[CONFIG-4] a process that is killed while it writes leaves a whole file and no lock", async () => {
  const { file } = newConfig();
  for (let round = 0; round < 5; round += 1) {
    const writer = start(file, `w${round}`, 1000);
    await writer.waitFor(new RegExp(`^${5 + round}$`, "m"));
    const { stdout } = await writer.stop("SIGKILL");
    const acknowledged = stdout.trim().split("\n").length;
    const written = rulesIn(file).filter((rule) => rule.startsWith(`w${round}/`)).length;
    expect(written).toBeGreaterThanOrEqual(acknowledged);
    expect(written).toBeLessThanOrEqual(acknowledged + 1);
  }
  await changeConfig({ file, home: "/" }, async () => [{ path: ["persona"], value: "planner" }]);
  expect(readFileSync(file, "utf8")).toContain('"persona": "planner"');
});
