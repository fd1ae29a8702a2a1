import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, it } from "vitest";

import { verifySession } from "../../src/store/verify/verify-session.ts";
import { readMessagesAfter } from "../../src/store/records/messages/read.ts";
import { listSessions } from "../../src/store/records/sessions/list.ts";
import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import {
  type ModelAnswer,
  type ModelServer,
  type SentMessage,
  startModelServer,
} from "../helpers/model-server.ts";
import type { Running } from "../helpers/process.ts";
import { seededRandom } from "../helpers/random.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { testSize } from "../helpers/size.ts";

/** Kills; see `npm run torture`. */
const ROUNDS = testSize("kill-exchange");
const SESSIONS = [
  "11111111-2222-4333-8444-555555555555",
  "66666666-7777-4888-9999-000000000000",
] as const;

it("[CLI-15] a command line that is killed at any time leaves mirror and checkpoints consistent", async () => {
  const random = seededRandom("kill-exchange");
  const server = await startModelServer({ latencyMs: 25, chunkSize: 8, answer: answerOf });
  const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" });
  writeFileSync(`${home.project}/note.txt`, "a note");
  const acknowledged = new Map<string, string[]>(SESSIONS.map((id) => [id, []]));
  let killed = 0;

  for (let round = 0; round < ROUNDS; round += 1) {
    const id = SESSIONS[round % SESSIONS.length] ?? SESSIONS[0];
    const text = `message of round ${round}`;
    const goOn = round > 3 && random() < 0.3;
    const args = goOn ? ["--continue-exchange"] : ["-p", text];
    const exchange = home.start(["--session", id, ...args, "--json"]);
    await momentToKill({ exchange, server, random: round === 0 ? null : random });
    const { code, stderr } = await exchange.stop("SIGKILL");
    killed += code === null ? 1 : 0;
    if (code === 0 && !goOn) {
      acknowledged.get(id)?.push(text);
    }
    // nothing may fail but for want of anything to continue
    expect(code === null || code === 0 || stderr.includes("nothing_to_continue"), stderr).toBe(
      true,
    );
    await expectProven(home, acknowledged);
  }

  console.log(`kill-exchange: ${killed} of ${ROUNDS} killed, ${server.requests().length} requests`);
  expect(killed).toBeGreaterThan(0);
  for (const id of SESSIONS) {
    const last = await home.json<{ answer: string }>(["--session", id, "-p", "the last", "--json"]);
    expect(last.answer).not.toBe("");
  }
  await expectProven(home, acknowledged);
  expect(server.refused()).toEqual([]);
});

/**
 * Any moment, and more often one while the model or a tool is running than one while the program
 * starts. Some exchanges finish before; none does that is killed when it asks the model,
 * without a random number.
 */
async function momentToKill(input: {
  exchange: Running;
  server: ModelServer;
  random: (() => number) | null;
}): Promise<void> {
  const { exchange, server, random } = input;
  if (random !== null && random() < 0.2) {
    await Promise.race([sleep(random() * 700), exchange.finished]);
    return;
  }
  const awaited = server.requests().length + (random === null || random() < 0.5 ? 1 : 2);
  let ended = false;
  void exchange.finished.then(() => {
    ended = true;
  });
  while (!ended && server.requests().length < awaited) {
    await sleep(5);
  }
  // the server takes longer for one answer
  await Promise.race([sleep((random?.() ?? 0) * 200), exchange.finished]);
}

/** By the message: a plain answer, a tool, or a sub-agent with its own tool. */
function answerOf(messages: readonly SentMessage[], index: number): ModelAnswer {
  const last = messages.at(-1);
  const round = Number(/\d+$/.exec(last?.content ?? "")?.[0] ?? 0);
  if (last?.role === "tool" || (last?.content ?? "").startsWith("the last") || round % 4 === 3) {
    return { content: "The folder holds one note, and that is all there is to say of it." };
  }
  return round % 4 === 1
    ? { toolCalls: [call(index, "delegate", { persona: "reviewer", task: "look at file 2" })] }
    : { toolCalls: [call(index, "list_files", { path: "." })] };
}

function call(index: number, name: string, args: unknown) {
  return { id: `call_${index}`, name, arguments: JSON.stringify(args) };
}

/** Every session, sub-agents' too, has 0 differences and every message that was acknowledged. */
async function expectProven(
  home: Home,
  acknowledged: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  await using store = await openSqliteStore({ path: home.database });
  const { sessions } = await store.read(listSessions, { limit: 1000 });
  for (const { id } of sessions) {
    expect((await verifySession(store, id)).findings).toEqual([]);
    const rows = await store.read(readMessagesAfter, {
      session_id: id,
      after_seq: 0,
      all: true,
      limit: 100_000,
    });
    const stored = rows.filter(({ role }) => role === "user").map(({ content }) => content);
    expect(stored).toEqual([...new Set(stored)]);
    expect((acknowledged.get(id) ?? []).filter((text) => !stored.includes(text))).toEqual([]);
  }
}
