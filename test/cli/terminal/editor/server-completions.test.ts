import { expect, it } from "vitest";

import { fileCompletions } from "../../../../src/cli/terminal/editor/file-completions.ts";
import { type KnownServer, promptCommands } from "../../../../src/cli/chat/slash/known-servers.ts";
import { serverCompletions } from "../../../../src/cli/terminal/editor/server-completions.ts";
import { slashCompletions } from "../../../../src/cli/terminal/editor/slash-completions.ts";

const NOTES: KnownServer = {
  name: "notes",
  resources: [
    { uri: "notes://today", name: "what is to do" },
    { uri: "notes://picture", name: "a picture" },
  ],
  prompts: [
    { name: "review", arguments: [{ name: "file", isRequired: true }] },
    { name: "sum_up", arguments: [] },
  ],
};

it("[MCP-95] completes the resources that a server had after its name, by address and by name", async () => {
  const read = Promise.withResolvers<void>();
  const completions = serverCompletions({
    files: fileCompletions({ version: () => 0, paths: () => [] }),
    servers: async () => [NOTES],
    changed: read.resolve,
  });
  const texts = (before: string) => completions.find(before)?.items.map(({ text }) => text);
  expect(texts("see @notes:")).toBeUndefined();
  await read.promise;
  expect(texts("see @notes:")).toEqual(["@notes:notes://today ", "@notes:notes://picture "]);
  expect(completions.find("see @notes:notes://to")).toMatchObject({
    length: "@notes:notes://to".length,
    items: [{ text: "@notes:notes://today ", label: "notes://today", help: "what is to do" }],
  });
  expect(texts("see @notes:pict")).toEqual(["@notes:notes://picture "]);
  expect(texts("see @other:")).toBeUndefined();
});

it("[MCP-95] completes the prompts of servers with the commands", async () => {
  const read = Promise.withResolvers<void>();
  const completions = slashCompletions({
    commands: [{ name: "new", help: "a new session" }],
    more: async () => promptCommands([NOTES]),
    values: {},
    changed: read.resolve,
  });
  const texts = (before: string) => completions.find(before)?.items.map(({ text }) => text);
  expect(texts("/n")).toEqual(["/new"]);
  await read.promise;
  expect(texts("/n")?.toSorted()).toEqual(["/new", "/notes:review ", "/notes:sum_up"]);
  expect(completions.find("/notes:r")?.items[0]).toEqual({
    text: "/notes:review ",
    label: "/notes:review <file>",
    help: "prompt of the MCP server notes",
  });
  expect(texts("/home/me")).toBeUndefined();
});

it("[MCP-82] completes names of MCP servers after @, before files, and reads them once at the first of their letters", async () => {
  const read = Promise.withResolvers<void>();
  let reads = 0;
  const completions = serverCompletions({
    files: fileCompletions({ version: () => 0, paths: () => ["notes.txt"] }),
    servers: async () => {
      reads += 1;
      return [NOTES, { name: "tracker", resources: [], prompts: [] }];
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
