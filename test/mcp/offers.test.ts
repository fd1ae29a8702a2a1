import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, it } from "vitest";

import type { Server } from "../../src/mcp/configured-servers.ts";
import { learnOffers, readKeptOffers } from "../../src/mcp/kept-lists.ts";
import { openMcp, SOUND } from "../helpers/mcp.ts";
import { freshHome } from "../helpers/reprise.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const SERVER: Server = {
  name: "notes",
  place: { kind: "program", command: "x", args: [], env: {} },
  tools: null,
  timeoutMs: 1000,
  client: null,
  hash: "0",
  secrets: [],
};

function keptIn(folder: string): string[] {
  const offers = join(folder, "offers");
  try {
    return readdirSync(offers).map((name) => readFileSync(join(offers, name), "utf8"));
  } catch {
    return [];
  }
}

it("[MCP-95] an exchange keeps the resources and prompts of its servers beside its work", async () => {
  const bench = await openMcp({ notes: SOUND }, { steps: [{ name: "notes__slow" }] });
  // one that ends before its servers have answered leaves it to the next
  await expect
    .poll(async () => {
      await bench.run({ text: "hello" });
      return keptIn(bench.folder);
    })
    .toEqual([expect.stringContaining("notes://today")]);
  expect(keptIn(bench.folder)[0]).toContain('"name":"review"');
  expect(bench.server.refused()).toEqual([]);
});

it("[MCP-95] mcp check keeps them too, and the terminal's list starts nothing", async () => {
  const home = freshHome();
  const config = join(home.home, ".config/reprise/config.jsonc");
  mkdirSync(dirname(config), { recursive: true });
  writeFileSync(config, JSON.stringify({ mcp: { notes: SOUND } }), { mode: 0o600 });
  const folder = join(home.home, ".local/state/reprise/mcp");
  await home.call(["mcp", "list"]);
  expect(keptIn(folder)).toEqual([]);
  expect((await home.call(["mcp", "check"])).code).toBe(0);
  expect(keptIn(folder)).toEqual([expect.stringContaining("notes://today")]);
});

it("[MCP-95] what a message cannot name is left out, and a list is bounded", async () => {
  const folder = temporaryFolder();
  const signal = AbortSignal.timeout(60_000);
  const connection = {
    resources: async () => [
      { uri: "a://b c", name: "a space" },
      { uri: "a://\u001b[2J", name: "an escape" },
      { uri: `a://${"x".repeat(1000)}`, name: "too long" },
      { uri: "a://ok", name: "\u001b[31mred\u202e" },
      ...Array.from({ length: 1000 }, (_, at) => ({ uri: `a://${at}`, name: "n" })),
    ],
    prompts: async () => {
      throw new Error("it does not answer");
    },
  };
  await learnOffers(folder, SERVER, { connection, signal });
  const { resources, prompts } = await readKeptOffers(folder, SERVER);
  expect(resources[0]?.uri).toBe("a://ok");
  // oxlint-disable-next-line no-control-regex -- what a terminal would obey
  expect(resources[0]?.name).not.toMatch(/[\u001b\u202e]/);
  expect(resources.length).toBeLessThanOrEqual(300);
  expect(prompts).toEqual([]);
});

it("[MCP-95] nothing is kept of lists that a stop has cut off: they would be taken for current", async () => {
  const folder = temporaryFolder();
  const stop = new AbortController();
  const connection = {
    resources: async () => [{ uri: "a://ok", name: "n" }],
    prompts: async () => {
      stop.abort();
      return Promise.reject(stop.signal.reason as Error);
    },
  };
  await learnOffers(folder, SERVER, { connection, signal: stop.signal });
  expect(keptIn(folder)).toEqual([]);
});

it("[MCP-95] a file that another program has written is not believed", async () => {
  const folder = temporaryFolder();
  const file = join(folder, "offers", "notes-0.json");
  mkdirSync(dirname(file), { recursive: true });
  for (const text of [
    "",
    "null",
    "[]",
    '{"resources":{"length":1},"prompts":"x"}',
    "x".repeat(2_000_000),
  ]) {
    writeFileSync(file, text);
    expect(await readKeptOffers(folder, SERVER)).toEqual({ resources: [], prompts: [] });
  }
});
