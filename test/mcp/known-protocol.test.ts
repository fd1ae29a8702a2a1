import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import type { Server } from "../../src/mcp/configured-servers.ts";
import { connect } from "../../src/mcp/connection.ts";
import { ServerLog } from "../../src/mcp/server-log.ts";
import { ProcessMarks } from "../../src/workspace/commands/process-marks.ts";
import { keepProtocol, probeTime, readProtocol } from "../../src/mcp/known-protocol.ts";
import { fixtureServer, openMcp, SOUND } from "../helpers/mcp.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const SERVER = {
  name: "notes",
  place: { kind: "program", command: "x", args: [], env: {} },
  tools: null,
  timeoutMs: 1000,
  client: null,
  hash: "0",
  secrets: [],
} as const satisfies Server;

it("[MCP-133] a program that has spoken the stateless protocol is not taken for an older one by a loaded machine", () => {
  expect(probeTime("program", "2026-07-28", 5000)).toBe(5000);
  expect(probeTime("program", "2025-11-25", 5000)).toBe(1500);
  expect(probeTime("program", null, 5000)).toBe(3000);
  expect(probeTime("program", null, 30_000)).toBe(10_000);
  // of an address no other protocol is tried then
  expect(probeTime("address", null, 30_000)).toBe(30_000);
});

it("[MCP-133] the protocol of a server is kept, and forgotten if it cannot be used", async () => {
  const bench = await openMcp({ new: SOUND, old: fixtureServer("legacy.ts") });
  await bench.run({ text: "go" });
  const folder = join(bench.folder, "protocols");
  const kept = () =>
    readdirSync(folder)
      .toSorted()
      .map((name) => readFileSync(join(folder, name), "utf8"));
  expect(kept()).toEqual(['"2026-07-28"', '"2025-11-25"']);
  const gone: Server = { ...SERVER, place: { ...SERVER.place, command: "/nowhere/server" } };
  await keepProtocol(bench.folder, gone, "2026-07-28");
  const lost = connect({
    server: gone,
    version: "0.0.0",
    folder: bench.folder,
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    onSecrets: () => {},
    program: () => ({
      env: {},
      cwd: bench.folder,
      mark: new ProcessMarks(bench.id, {}).next(),
      log: new ServerLog(null, (given) => given),
    }),
  });
  await expect(lost).rejects.toThrow("ENOENT");
  expect(await readProtocol(bench.folder, gone)).toBeNull();
});

it("[MCP-133] what another program has written is not believed", async () => {
  const folder = temporaryFolder();
  await keepProtocol(folder, SERVER, "2026-07-28");
  expect(await readProtocol(folder, SERVER)).toBe("2026-07-28");
  await keepProtocol(folder, SERVER, null);
  expect(await readProtocol(folder, SERVER)).toBeNull();
  for (const text of ["", "[]", '"9"', '"2026-07-28x"', `"${"9".repeat(2_000_000)}"`]) {
    writeFileSync(join(folder, "protocols", "notes-0.json"), text);
    expect(await readProtocol(folder, SERVER)).toBeNull();
  }
});
