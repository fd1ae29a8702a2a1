import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, it } from "vitest";

import { verifySession } from "../../src/store/verify/verify-session.ts";
import { createCheckpointSaver } from "../../src/langgraph/saver.ts";
import { messagesOf } from "../../src/agent/messages/thread-state.ts";
import { threadId } from "../../src/core/threads.ts";
import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import { type ModelAnswer, type SentMessage, startModelServer } from "../helpers/model-server.ts";
import { seededRandom } from "../helpers/random.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { testSize } from "../helpers/size.ts";

/** Kills; see `npm run torture`. */
const ROUNDS = testSize("kill-writes");
/** Files that one answer of the model writes. */
const FILES = 8;

it("[EXCHANGE-10] a command line that is killed between its writes overwrites nothing without consent", async () => {
  const random = seededRandom("kill-writes");
  const server = await startModelServer({ latencyMs: 5, answer: answerOf });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" });
  let killed = 0;
  let overwritten = 0;
  let twice = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const id = randomUUID();
    const files = filesOf(home, round);
    killed += (await killAmongWrites({ home, id, round, files, random })) ? 1 : 0;
    for (const file of files) {
      writeFileSync(file, "mine");
    }
    // calls that had not begun ask then
    const ask = ["--permission", "ask"];
    const continued = ["--session", id, "--continue-exchange", "--json", ...ask];
    const { code, stderr } = await home.call(continued);
    expect([0, 7].includes(code) || stderr.includes("nothing_to_continue"), stderr).toBe(true);
    overwritten += files.filter((file) => readFileSync(file, "utf8") !== "mine").length;
    twice += await callsWithTwoResults(home, id);
  }
  console.log(
    `kill-writes: ${killed} of ${ROUNDS} killed, ${overwritten} files overwritten, ${twice} call ids with two results`,
  );
  expect({ overwritten, twice }).toEqual({ overwritten: 0, twice: 0 });
  expect(killed).toBeGreaterThan(0);
  expect(server.refused()).toEqual([]);
});

function filesOf(home: Home, round: number): string[] {
  return Array.from({ length: FILES }, (_, index) => `${home.project}/${round}-${index}.txt`);
}

/** True if the exchange was killed; it may also have finished before. */
async function killAmongWrites(input: {
  home: Home;
  id: string;
  round: number;
  files: readonly string[];
  random: () => number;
}): Promise<boolean> {
  const { home, id, round, files, random } = input;
  const exchange = home.start([
    "--session",
    id,
    "-p",
    `round ${round}`,
    "--json",
    "--permission",
    "edits",
  ]);
  let ended = false;
  void exchange.finished.then(() => {
    ended = true;
  });
  while (!ended && !files.some((file) => existsSync(file))) {
    await sleep(1);
  }
  await sleep(random() * 12);
  return (await exchange.stop("SIGKILL")).code === null;
}

/** Writes all files in one answer, then says that it is done. */
function answerOf(messages: readonly SentMessage[]): ModelAnswer {
  const last = messages.at(-1);
  if (last?.role === "tool") {
    // long enough that the kill comes before the end
    return { content: "All is written. ".repeat(60) };
  }
  const round = /\d+$/.exec(last?.content ?? "")?.[0] ?? "";
  return {
    toolCalls: Array.from({ length: FILES }, (_, index) => ({
      id: `call_${round}_${index}`,
      name: "write_file",
      arguments: JSON.stringify({ path: `${round}-${index}.txt`, content: "the agent's" }),
    })),
  };
}

/** Call ids with more than one result in the thread, whose mirror has to agree with it. */
async function callsWithTwoResults(home: Home, id: string): Promise<number> {
  await using store = await openSqliteStore({ path: home.database });
  expect((await verifySession(store, id)).findings).toEqual([]);
  const saver = createCheckpointSaver({ store });
  const tuple = await saver.getTuple({ configurable: { thread_id: threadId(id, 0) } });
  const calls = messagesOf(tuple).flatMap((message) =>
    "tool_call_id" in message ? [String(message.tool_call_id)] : [],
  );
  return calls.length - new Set(calls).size;
}
