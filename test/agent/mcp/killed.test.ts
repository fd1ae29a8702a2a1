import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import type { Repeats } from "../../../src/core/questions.ts";
import { readMessagesAfter } from "../../../src/store/records/messages/read.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { createDatabase } from "../../helpers/database.ts";
import { fixtureServer, notedIn, runningOf } from "../../helpers/mcp.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { sampleOf, seededRandom } from "../../helpers/random.ts";
import { testSize } from "../../helpers/size.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

/** Writes of one exchange with a call, and some more: an exchange that has fewer is not killed. */
const WRITES = 16;

async function openKilled() {
  const empty = await createDatabase();
  onTestFinished(() => empty[Symbol.asyncDispose]());
  const store = await openStoreAt(empty.location);
  onTestFinished(() => store.close());
  let how = "fast";
  const server = await startModelServer({
    answer: (messages) =>
      messages.at(-1)?.role === "user"
        ? {
            toolCalls: [
              {
                name: "one__act",
                arguments: JSON.stringify({ what: messages.at(-1)?.content, how }),
              },
            ],
          }
        : { content: `end: ${messages.at(-1)?.content}` },
  });
  const home = temporaryFolder();
  const noted = join(home, "noted");
  const file = join(home, "config.jsonc");
  const command = `test ! -e '${noted}.denies' || { echo too late >&2; exit 2; }`;
  const hooks = { PreToolUse: [{ command, match: "mcp__one__act", sandbox: false }] };
  const mcp = { one: fixtureServer("lives.ts", noted) };
  writeFileSync(file, JSON.stringify({ mcp, hooks }), { mode: 0o600 });
  const acts = (what: string) => notedIn(noted).filter((line) => line === `act ${what}`).length;
  return {
    acts,
    create: async () =>
      (await store.write(createSession, { repo_path: home, permission: "all" })).id,
    calls: (given: string) => (how = given),
    /** From now on the hook of the calls denies them. */
    denies: () => writeFileSync(`${noted}.denies`, ""),
    /** Runs one exchange in a process. */
    order: (
      session_id: string,
      text: string | null,
      dies: object | null,
      repeats: Repeats = "never",
    ) => {
      const program = startProgram("mcp-lives.ts", [empty.location, file], {
        env: { ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" },
      });
      program.child.stdin?.end(`${JSON.stringify({ session_id, text, repeats, dies })}\n`);
      return program;
    },
    /** What the last request says of the call. */
    result: () =>
      server
        .requests()
        .at(-1)
        ?.findLast(({ role }) => role === "tool")?.content ?? "",
    /** How the latest call ended, as its row says. */
    status: async (session_id: string) => {
      const range = { session_id, after_seq: 0, all: true, limit: 100 };
      const rows = await store.read(readMessagesAfter, range);
      return rows.findLast(({ role }) => role === "tool")?.status;
    },
    sound: async (id: string) => {
      expect((await verifySession(store, id)).findings).toEqual([]);
      expect(server.refused()).toEqual([]);
      expect(await runningOf(noted)).toEqual([]);
    },
  };
}

it("[MCP-15] [MCP-60] a process that is killed around a call leaves a call that is made once, or whose outcome is unknown", async () => {
  const bench = await openKilled();
  const moments = Array.from({ length: WRITES }, (_, at) => at + 1).flatMap((at) =>
    (["before", "after"] as const).map((when) => ({ at, when })),
  );
  const seen = { unsent: 0, unknown: 0, stored: 0 };
  const chosen = sampleOf(moments, testSize("mcp-writes"), seededRandom("mcp-writes"));
  for (const [n, dies] of chosen.entries()) {
    const id = await bench.create();
    const what = `w${n}`;
    const first = await bench.order(id, what, dies).finished;
    const before = bench.acts(what);
    const next = await bench.order(id, null, null).finished;
    const left = next.stdout.includes("nothing_to_continue");
    const result = left ? "" : bench.result();
    const moment = JSON.stringify([dies, first.stdout, next.stdout, result]);
    expect([moment, bench.acts(what) <= 1]).toEqual([moment, true]);
    if (before === 1 && !left && !result.includes(`did ${what}`)) {
      expect(result).toContain("Outcome unknown");
      seen.unknown += 1;
    } else if (before === 0) {
      seen.unsent += 1;
    } else {
      seen.stored += 1;
    }
    await bench.sound(id);
  }
  console.log(`mcp-writes: ${JSON.stringify(seen)}`);
});

it("[MCP-140] a call that began, may run again and is denied then has an unknown outcome", async () => {
  const bench = await openKilled();
  bench.calls("silent");
  const id = await bench.create();
  const program = bench.order(id, "s", null);
  await expect.poll(() => bench.acts("s")).toBe(1);
  await program.stop("SIGKILL");
  bench.denies();
  expect((await bench.order(id, null, null, "always").finished).stdout).toContain("1 done");
  expect(bench.result()).toContain("denied by the hook");
  expect(bench.result()).toContain("It may have taken effect or not");
  expect(bench.acts("s")).toBe(1);
  expect(await bench.status(id)).toBe("unknown");
  // a call that has not begun is certainly denied
  await bench.order(id, "t", null).finished;
  expect(bench.result()).toContain("denied by the hook");
  expect(bench.result()).not.toContain("may have taken effect");
  expect(await bench.status(id)).toBe("denied");
  await bench.sound(id);
});

it("[MCP-15] a process that is killed while the server works leaves an unknown outcome, and no process", async () => {
  const bench = await openKilled();
  bench.calls("silent");
  const id = await bench.create();
  const program = bench.order(id, "s", null);
  await expect.poll(() => bench.acts("s")).toBe(1);
  await program.stop("SIGKILL");
  expect((await bench.order(id, null, null).finished).stdout).toContain("1 done");
  expect(bench.result()).toContain("Outcome unknown");
  expect(bench.acts("s")).toBe(1);
  await bench.sound(id);
});
