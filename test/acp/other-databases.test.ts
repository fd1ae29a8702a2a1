import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { expect, it } from "vitest";

import { writeEarlierDatabase } from "../helpers/earlier-builds.ts";
import { freshHome } from "../helpers/reprise.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const INITIALIZE = { method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } };

/** Lines of a client that does not wait for answers. */
const linesOf = (...requests: readonly object[]) =>
  requests.map((each, id) => `${JSON.stringify({ jsonrpc: "2.0", id, ...each })}\n`).join("");

function changed(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

it.each<[what: string, code: string, make: (file: string) => unknown]>([
  [
    "of a build before the baseline",
    "database_too_old",
    (file) => writeEarlierDatabase("fe83431e", file),
  ],
  ["of a newer version", "database_newer", (file) => changed(file, "PRAGMA user_version = 99")],
  ["that is a text", "database_corrupt", (file) => writeFileSync(file, "a text\n".repeat(1000))],
])(
  "[ACP-94] a database %s is refused by each request with what to do, and not changed",
  async (what, code, make) => {
    const home = freshHome({ REPRISE_MODEL: "demo" });
    const file = code === "database_newer" ? home.database : join(temporaryFolder(), "other.db");
    if (code === "database_newer") {
      await home.call(["sessions", "list"]);
    }
    make(file);
    const before = readFileSync(file);
    const input = linesOf(
      INITIALIZE,
      { method: "session/list", params: {} },
      { method: "session/new", params: { cwd: home.project, mcpServers: [] } },
    );
    const running = home.start(["acp", "--database", file]);
    running.child.stdin?.write(input);
    for (const id of [1, 2]) {
      const [line] = await running.waitFor(new RegExp(`^.*"id":${id}[,}].*$`, "m"));
      expect(JSON.parse(line)).toMatchObject({
        error: { data: { code }, message: expect.stringMatching(/database/) },
      });
    }
    running.child.stdin?.end();
    expect(await running.finished).toMatchObject({ code: 0, stderr: "" });
    const served = await home.call(["mcp", "serve", "--database", file]);
    expect([what, served.stdout, served.stderr.includes(`[${code}]`)]).toEqual([what, "", true]);
    expect(readFileSync(file).equals(before)).toBe(true);
  },
);

it("[ACP-50] a client that leaves while its session is made finds no error in the log", async () => {
  const home = freshHome({ REPRISE_MODEL: "demo" });
  const session = { method: "session/new", params: { cwd: home.project, mcpServers: [] } };
  for (let time = 0; time < 4; time += 1) {
    const input = linesOf(INITIALIZE, session);
    expect(await home.run(["acp"], { input })).toMatchObject({ code: 0, stderr: "" });
  }
});
