import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

import { expect, it } from "vitest";

import { buildPage } from "../../build/page-bundle.ts";
import { builtPage } from "../helpers/page.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

it("[PAGE-30] the page is built the same again, and each of its files is there in three forms", async () => {
  const first = await builtPage();
  const second = temporaryFolder();
  await buildPage(ROOT, second);
  const names = readdirSync(join(first, "assets"));
  expect(readdirSync(join(second, "assets"))).toEqual(names);
  const html = readFileSync(join(first, "index.html"), "utf8");
  expect(readFileSync(join(second, "index.html"), "utf8")).toBe(html);
  // inline script and style would be refused by the page's own policy
  expect(html).not.toMatch(/<style|\bstyle=|<script>|\bon\w+=/);
  const named = [...html.matchAll(/\{base\}assets\/([^"]+)/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThanOrEqual(2);
  expect(names).toEqual(expect.arrayContaining(named));
  const read = (name: string) => readFileSync(join(first, "assets", name));
  const plain = names.filter((name) => /\.(js|css)$/.test(name));
  for (const name of plain) {
    expect(name).toMatch(/^[\w-]+-[\w-]{8}\.(js|css)$/);
    expect(gunzipSync(read(`${name}.gz`)).equals(read(name))).toBe(true);
    expect(brotliDecompressSync(read(`${name}.br`)).equals(read(name))).toBe(true);
  }
  expect(names.length).toBe(3 * plain.length);
});

it("[PAGE-220] a document names all that its page needs at once, in three files", async () => {
  const folder = await builtPage();
  const [list = [], session = []] = ["index.html", "session.html"].map((document) =>
    [...readFileSync(join(folder, document), "utf8").matchAll(/\{base\}assets\/([^"]+)/g)].map(
      ([, name = ""]) => name,
    ),
  );
  expect([list.length, session.length]).toEqual([3, 3]);
  expect(session).not.toEqual(list);
  for (const named of [list, session]) {
    for (const name of named.filter((each) => each.endsWith(".js"))) {
      const code = readFileSync(join(folder, "assets", name), "utf8");
      const imported = [...code.matchAll(/\b(?:from|import)\s*"\.\/([^"]+)"/g)].map(
        ([, file]) => file,
      );
      expect(named).toEqual(expect.arrayContaining(imported));
    }
  }
});

it("[PAGE-30] a page that is too large is not built", async () => {
  await expect(buildPage(ROOT, temporaryFolder(), { max: 10_000 })).rejects.toThrow(
    /^A first visit to web\/list\/List\.tsx loads \d+ bytes with gzip, more than 10000: /,
  );
});
