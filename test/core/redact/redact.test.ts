import { globSync, readFileSync } from "node:fs";

import { expect, it } from "vitest";

import { createFinder, withoutFindings } from "../../../src/core/redact/redact.ts";
import { plantedSecrets } from "./planted.ts";

const PROSE = [
  "I ran it in the terminal, and it printed",
  "Then it failed with: ",
  "see `src/shop/price.ts` line 12, commit 3f2a9c41d0c5b7e8f6a9d2c4b1e0f3a5c7d9e2b4:",
  "const total = prices.reduce((sum, each) => sum + each, 0);",
  "日本語のテキスト 😀",
];

it.each([20_261_127, 42, Math.floor(Math.random() * 1e9)])(
  "[EXPORT-5] of 200 secrets of 20 kinds none is left, and nothing else changes (seed %i)",
  (seed) => {
    const find = createFinder({});
    const planted = plantedSecrets(seed, 10);
    expect(planted).toHaveLength(200);
    const before = planted.map(({ text }, at) => `${PROSE[at % PROSE.length]} ${text}\n`).join("");
    const findings = find(before);
    const after = withoutFindings(before, findings);
    expect(planted.filter(({ secret }) => after.includes(secret))).toEqual([]);
    const kept = after.split(/\[redacted: [^\]]+\]/);
    const expected = planted.reduce((text, { secret }) => text.replace(secret, "\0"), before);
    expect(kept.join("\0")).toBe(expected);
  },
);

it("[EXPORT-5] texts of the config, the home folder and keys that Reprise was given go too", () => {
  const find = createFinder({
    home: "/srv/people/ada",
    patterns: ["acme-*", "Project Blue"],
    secrets: [{ name: "OPENAI_API_KEY", value: "plain words of a key" }],
  });
  const text = "acme-7/x of Project Blue in /srv/people/ada/x: plain words of a key; acme";
  expect(withoutFindings(text, find(text))).toBe(
    "[redacted: pattern] of [redacted: pattern] in [redacted: home path]/x: [redacted: OPENAI_API_KEY]; acme",
  );
});

/** Findings that are allowed in 10 million characters of code and documents; example addresses, examples of passwords and paths of homes. */
const MAX_FALSE = 40;

it("[EXPORT-6] ordinary code and prose keeps nearly all of its text", () => {
  const find = createFinder({});
  const files = [
    ...globSync("src/{store,http,cli,agent,rules}/**/*.ts"),
    ...globSync("docs/**/*.md"),
    ...globSync("node_modules/{kysely,diff,marked}/**/*.{js,md}"),
  ];
  const found = files.flatMap((file) => {
    const text = readFileSync(file, "utf8");
    return find(text).map(({ kind, from, to }) => `${file}: ${kind}: ${text.slice(from, to)}`);
  });
  expect(found.length, found.join("\n")).toBeLessThan(MAX_FALSE);
});

it("[EXPORT-6] hostile texts take no quadratic time", () => {
  const find = createFinder({ patterns: ["aaa*a"] });
  const pieces = ["-----BEGIN RSA PRIVATE KEY-----\n", "a", "password=", "http://", "a@", "eyJ"];
  for (const piece of [...pieces, '<add key="Password" value="', "token = '", " ", "aA1_"]) {
    // a rule that takes quadratic time takes most of a minute
    expect(find(piece.repeat(1_000_000 / piece.length)).length).toBeGreaterThanOrEqual(0);
  }
});
