import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { OUTCOME_UNKNOWN } from "../../../src/core/text/outcome-unknown.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { createDatabase } from "../../helpers/database.ts";
import { fixtureServer, notedIn, runningOf } from "../../helpers/mcp.ts";
import { sampleOf, seededRandom } from "../../helpers/random.ts";
import { testSize } from "../../helpers/size.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

/** A session whose model calls the one tool of a server that asks or answers with a task, run by other processes. */
async function openHeld(era: string, kind: string, beside: readonly { name: string }[] = []) {
  const empty = await createDatabase();
  onTestFinished(() => empty[Symbol.asyncDispose]());
  const store = await openStoreAt(empty.location);
  onTestFinished(() => store.close());
  const server = await startModelServer({
    answer: (messages) =>
      messages.at(-1)?.role === "user"
        ? {
            toolCalls: [{ name: "desk__act" }, ...beside].map(({ name }) => ({
              name,
              arguments: '{"what":"b","how":"silent"}',
            })),
          }
        : { content: "done" },
  });
  const home = temporaryFolder();
  const noted = join(home, "noted");
  const file = join(home, "config.jsonc");
  const mcp = {
    desk: fixtureServer("asking.ts", era, kind, noted),
    ...(beside.length === 0 ? {} : { one: fixtureServer("lives.ts", noted) }),
  };
  writeFileSync(file, JSON.stringify({ mcp }), { mode: 0o600 });
  const { id } = await store.write(createSession, { repo_path: home, permission: "all" });
  return {
    store,
    server,
    id,
    noted,
    open: () => {
      const program = startProgram("mcp-lives.ts", [empty.location, file], {
        env: { ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" },
      });
      const send = (text: string | null, dies: object | null = null) =>
        program.child.stdin?.write(
          `${JSON.stringify({ session_id: id, text, repeats: "never", dies })}\n`,
        );
      return { program, send };
    },
  };
}

it.each([
  ["ends", null],
  ["is killed", "SIGKILL"],
] as const)(
  "[MCP-67] [MCP-23] a server that waits for an answer, and does not want to end, is gone once Reprise %s",
  async (_, signal) => {
    const { store, id, noted, open } = await openHeld("old", "stubborn");
    const first = open();
    first.send("go");
    await first.program.waitFor(/^1 waiting$/m);
    expect(await runningOf(noted)).toHaveLength(1);
    expect(await store.read(listOpenQuestions, { reference: id })).toHaveLength(1);
    if (signal === null) {
      first.program.child.stdin?.end();
      expect((await first.program.finished).code).toBe(0);
    } else {
      await first.program.stop(signal);
      const [left] = await runningOf(noted);
      const second = open();
      second.send("another");
      await second.program.waitFor(/^1 waiting$/m);
      expect(await runningOf(noted)).not.toContain(left);
      second.program.child.stdin?.end();
      expect((await second.program.finished).code).toBe(0);
    }
    await expect.poll(() => runningOf(noted)).toEqual([]);
  },
);

it("[MCP-71] [MCP-60] a task is asked for again after kill -9, and its call is made once", async () => {
  const { store, server, id, noted, open } = await openHeld("new", "task");
  const first = open();
  first.send("go");
  await expect.poll(() => notedIn(noted)).toContain("tasks/get t 1");
  await first.program.stop("SIGKILL");
  writeFileSync(`${noted}.done`, "");
  const second = open();
  second.send(null);
  await second.program.waitFor(/^1 done$/m);
  second.program.child.stdin?.end();
  await second.program.finished;
  const results = server
    .requests()
    .at(-1)
    ?.filter(({ role }) => role === "tool");
  expect(results?.map(({ content }) => content)).toEqual(["printed"]);
  expect(notedIn(noted).filter((line) => line === "call")).toHaveLength(1);
  expect(server.refused()).toEqual([]);
  expect((await verifySession(store, id)).findings).toEqual([]);
  await expect.poll(() => runningOf(noted)).toEqual([]);
});

it("[MCP-71] a task is not begun again if a call beside it gets an unknown outcome, whenever that is killed", async () => {
  const moments = Array.from({ length: 8 }, (_, at) => at + 2).flatMap((at) =>
    (["before", "after"] as const).map((when) => ({ at, when })),
  );
  for (const dies of sampleOf(moments, testSize("mcp-beside"), seededRandom("mcp-beside"))) {
    const held = await openHeld("new", "task", [{ name: "one__act" }]);
    const { store, server, id, noted, open } = held;
    const first = open();
    first.send("go");
    await expect.poll(() => notedIn(noted)).toContain("act b");
    await expect.poll(() => notedIn(noted)).toContain("tasks/get t 1");
    await first.program.stop("SIGKILL");
    const killed = open();
    await killed.program.waitFor(/ready/);
    const polls = notedIn(noted).length;
    killed.send(null, dies);
    // with fewer writes it polls the task
    const isOver = () =>
      killed.program.child.signalCode !== null || notedIn(noted).length > polls + 5;
    await expect.poll(isOver).toBe(true);
    await killed.program.stop("SIGKILL");
    writeFileSync(`${noted}.done`, "");
    const last = open();
    last.send(null);
    await last.program.waitFor(/^1 done$/m);
    last.program.child.stdin?.end();
    await last.program.finished;
    const results = server
      .requests()
      .at(-1)
      ?.filter(({ role }) => role === "tool");
    const given = new Set(results?.map(({ content }) => content));
    expect([dies, given]).toEqual([dies, new Set(["printed", OUTCOME_UNKNOWN])]);
    expect(notedIn(noted).filter((line) => line === "call" || line === "act b")).toHaveLength(2);
    expect(server.refused()).toEqual([]);
    expect((await verifySession(store, id)).findings).toEqual([]);
    await expect.poll(() => runningOf(noted)).toEqual([]);
  }
});
