import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { freshHome } from "../helpers/reprise.ts";

it("[SANDBOX-62] doctor warns of what sandbox.visible names and no command sees", async () => {
  const home = freshHome();
  const at = (name: string): string => join(home.home, name);
  for (const name of [".ssh/keys", ".aws", "project", ".config/reprise"]) {
    mkdirSync(at(name), { recursive: true });
  }
  symlinkSync(at(".ssh"), at("to-hidden"));
  symlinkSync(at(".ssh/keys"), at("below-hidden"));
  symlinkSync(at(".aws"), at("to-aws"));
  symlinkSync(at("nowhere"), at("to-nothing"));
  symlinkSync(at("project"), at("to-project"));
  const visible = [
    "to-hidden",
    "below-hidden",
    "to-nothing",
    "to-project",
    "project",
    ".aws",
    "to-aws",
  ];
  writeFileSync(
    at(".config/reprise/config.jsonc"),
    JSON.stringify({ sandbox: { visible: visible.map((name) => `~/${name}`) } }),
  );
  const { checks } = await home.json<{ checks: { status: string; sentence: string }[] }>([
    "doctor",
    "--quick",
    "--json",
  ]);
  const warned = checks.flatMap(({ status, sentence }) =>
    status === "warning" && sentence.includes("sandbox.visible") ? [sentence] : [],
  );
  expect(warned).toEqual([
    expect.stringContaining(`~/to-hidden, which leads to ${at(".ssh")}`),
    expect.stringContaining(`~/below-hidden, which leads to ${at(".ssh/keys")}`),
    expect.stringContaining("~/to-nothing, which does not exist or is a link to nothing"),
  ]);
});
