import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

const AGENT = fileURLToPath(new URL("../../../src/agent/", import.meta.url));
const HTTP = fileURLToPath(new URL("../../../src/http/", import.meta.url));

function sources(folder: string): readonly (readonly [name: string, text: string])[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => [name, readFileSync(join(folder, name), "utf8")]);
}

it("[HOOK-37] nothing of the hooks is loaded but by an exchange that has some", () => {
  const loading = sources(AGENT)
    .filter(([name]) => !name.startsWith("hooks/"))
    .flatMap(([name, text]) => {
      const imports = text.match(/^import (?!type )[^;]*"\.[^"]*\/hooks\/[^"]*";/gm) ?? [];
      return imports
        .filter((line) => !/rules\/hooks\/|session-hooks/.test(line))
        .map((line) => `${name}: ${line}`);
    });
  expect(loading).toEqual([]);
  expect(sources(AGENT).some(([, text]) => text.includes('import("./hooks/open-hooks.ts")'))).toBe(
    true,
  );
});

it("[HOOK-34] no request over HTTP names a hook", () => {
  const naming = sources(HTTP).filter(([, text]) => /\bhooks\b|rules\/hooks/.test(text));
  expect(naming.map(([name]) => name)).toEqual([]);
});
