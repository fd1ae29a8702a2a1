import { setTimeout as sleep } from "node:timers/promises";

import { expect, it } from "vitest";

import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { readDetail } from "../../../src/store/records/messages/read.ts";
import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { seededRandom } from "../../helpers/random.ts";
import { freshHome } from "../../helpers/reprise.ts";
import { readKept } from "../../helpers/checkpoints/kept.ts";
import { testSize } from "../../helpers/size.ts";

const ID = "11111111-2222-4333-8444-555555555555";
const ROUNDS = testSize("kill-compaction");

it("[LONG-2] [LONG-4] a process that is killed while it answers, summarises or prunes leaves a consistent state", async () => {
  const random = seededRandom("kill-compaction");
  let summaries = 0;
  const server = await startModelServer({
    answer: (messages) =>
      messages.at(-1)?.content.includes("<conversation>")
        ? { content: `SUMMARY ${++summaries} `.repeat(10) }
        : { content: "an answer of some words ".repeat(5) },
    latencyMs: 10,
    chunkSize: 10,
  });
  const home = freshHome({
    ...server.env("openai"),
    REPRISE_MODEL: "openai:gpt-test",
    REPRISE_CONTEXT_TOKENS: "2000",
  });
  let killed = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = server.requests().length;
    const text = `question ${round} ${"word ".repeat(400)}`;
    const running = home.start(["--session", ID, "-p", text]);
    for (let waited = 0; server.requests().length === before && waited < 2000; waited += 1) {
      await sleep(20);
    }
    // an answer takes a fifth of a second: the first one is always cut, some finish
    await sleep(round === 0 ? 0 : random() * 250);
    killed += (await running.stop("SIGKILL")).code === null ? 1 : 0;
    await using store = await openSqliteStore({ path: home.database });
    expect((await verifySession(store, ID)).findings).toEqual([]);
    expect((await store.read(readKept, null)).dangling).toEqual([]);
  }
  expect(killed).toBeGreaterThan(0);
  expect(await home.call(["--session", ID, "-p", "the last"])).toMatchObject({ code: 0 });
  await using store = await openSqliteStore({ path: home.database });
  const { messages } = await store.read(readDetail, { reference: ID, all: true });
  const said = messages.filter(({ role }) => role === "user").map(({ content }) => content);
  expect(said.map((content) => content.slice(0, 11).trim())).toEqual([
    ...Array.from({ length: ROUNDS }, (_, round) => `question ${round}`),
    "the last",
  ]);
  expect(messages.some(({ is_summary }) => is_summary)).toBe(true);
  expect((await verifySession(store, ID)).findings).toEqual([]);
  expect(server.refused()).toEqual([]);
});
