import { expect, it } from "vitest";

import { fileCompletions } from "../../../../src/cli/terminal/editor/file-completions.ts";
import { serverCompletions } from "../../../../src/cli/terminal/editor/server-completions.ts";

it("[MCP-82] completes names of MCP servers after @, before files, and reads them once at the first of their letters", async () => {
  const read = Promise.withResolvers<void>();
  let reads = 0;
  const completions = serverCompletions({
    files: fileCompletions({ version: () => 0, paths: () => ["notes.txt"] }),
    names: async () => {
      reads += 1;
      return ["notes", "tracker"];
    },
    changed: read.resolve,
  });
  const texts = (before: string) => completions.find(before)?.items.map(({ text }) => text);
  expect(texts("see @")).toEqual(["@notes.txt "]);
  expect(texts("not")).toBeUndefined();
  expect(reads).toBe(0);
  expect(texts("see @not")).toEqual(["@notes.txt "]);
  const before = completions.version();
  await read.promise;
  expect(completions.version()).toBeGreaterThan(before);
  expect(completions.find("see @not")).toMatchObject({ length: 4 });
  expect(texts("see @not")).toEqual(["@notes:", "@notes.txt "]);
  expect(texts("see @Tr")?.[0]).toBe("@tracker:");
  expect(texts("a@not")).toBeUndefined();
  expect(reads).toBe(1);
});
