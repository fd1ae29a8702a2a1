import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { MemorySaver } from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";

import { RepriseSaver } from "../../../src/langgraph/reprise-saver.ts";
import { readKept } from "../../helpers/checkpoints/kept.ts";
import { LoggedSaver, type LogLine } from "../../helpers/checkpoints/logged-saver.ts";
import { LoggedThreads } from "../../helpers/checkpoints/logged-threads.ts";
import { programGraph } from "../../helpers/checkpoints/program-graph.ts";
import { RandomProgram } from "../../helpers/checkpoints/random-program.ts";
import { createDatabase } from "../../helpers/database.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { randomOf, seedOf } from "../../helpers/random.ts";
import { testSize } from "../../helpers/size.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const ROUNDS = testSize("kill-graph");

it("[SAVER-42] a program with its own graph that is killed at any time has all that was acknowledged, once and unchanged", async () => {
  const seed = seedOf("kill-graph");
  const random = randomOf(seed);
  await using database = await createDatabase();
  const folder = temporaryFolder();
  const threads = new LoggedThreads();
  for (let round = 0; round < ROUNDS; round += 1) {
    const log = join(folder, `${round}.jsonl`);
    const args = [database.location, log, `${(seed + round) % 2 ** 32}`];
    const program = startProgram("foreign-graph.ts", args);
    await program.waitFor(/a step/);
    await Promise.race([sleep(random() * 200), program.finished]);
    const { signal, stderr } = await program.stop("SIGKILL");
    expect(signal, stderr).toBe("SIGKILL");
    for (const line of readLog(log)) {
      threads.learn(line);
    }
    await using store = await openStoreAt(database.location);
    await threads.compare(RepriseSaver.from(store));
    expect((await store.read(readKept, null)).dangling).toEqual([]);
  }
  await using reprise = new RepriseSaver(database.location);
  const saver = new LoggedSaver(reprise, (line) => threads.learn(line));
  const program = new RandomProgram({ saver, random, name: "killed" });
  for (let step = 0; step < 3; step += 1) {
    await program.step();
  }
  await threads.compare(saver);
  console.log(`kill-graph: ${ROUNDS} kills, ${threads.acknowledged} acknowledged writes`);
});

it("[SAVER-45] what a task wrote before its process was killed stays when the next process updates the same head", async () => {
  const { location } = await createDatabase();
  await using reprise = new RepriseSaver(location);
  const expected = await updateTwice(new MemorySaver(), async () => {});
  expect(expected).toMatchObject(["first"]);
  const compare = (threads: LoggedThreads) => threads.compare(reprise);
  expect(await updateTwice(reprise, compare)).toEqual(expected);
});

/** Two updates of the head, each killed before it puts its checkpoint: what is stored in the log. */
async function updateTwice(
  saver: BaseCheckpointSaver,
  compare: (threads: LoggedThreads) => Promise<void>,
): Promise<unknown> {
  const thread = { configurable: { thread_id: "thread" } };
  const threads = new LoggedThreads();
  const program = () => new LoggedSaver(saver, (line) => threads.learn(line));
  await programGraph(program()).invoke({ messages: [], tasks: [] }, thread);
  for (const name of ["first", "second"]) {
    const killed = program();
    killed.put = () => Promise.reject(new Error("killed"));
    const update = programGraph(killed).updateState(thread, { log: [name] }, "plan");
    await expect(update).rejects.toThrow("killed");
    await compare(threads);
  }
  const { pendingWrites = [] } = (await saver.getTuple(thread)) ?? {};
  return pendingWrites.find(([, channel]) => channel === "log")?.[2];
}

/** The lines of a killed program; the last one may be cut off. */
function readLog(file: string): LogLine[] {
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as LogLine);
}
