import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { HumanMessage } from "@langchain/core/messages";
import { type BaseCheckpointSaver, MemorySaver } from "@langchain/langgraph-checkpoint";
import { createAgent } from "langchain";

import { createCheckpointSaver } from "../src/agent/checkpoints/saver.ts";
import { newId } from "../src/core/ids.ts";
import { threadId } from "../src/core/threads.ts";
import { createSession } from "../src/store/sessions/create.ts";
import { openSqliteStore } from "../src/store/sqlite/open.ts";
import { InstantModel } from "./instant-model.ts";

export interface ExchangesOptions {
  /** Exchanges in one thread. */
  readonly size?: number;
  /** One line of JSON instead of a table. */
  readonly json?: boolean;
}

export interface ExchangesResult {
  readonly saver: string;
  readonly exchanges: number;
  /** Median milliseconds of an exchange. */
  readonly first_ten_ms: number;
  readonly last_ten_ms: number;
  readonly last_to_first: number;
  /** The whole database with the mirror, after a checkpoint of its WAL; memory has none. */
  readonly bytes: number | null;
  readonly bytes_to_said: number | null;
}

/** Exchanges before the clock starts, so that the first ten do not pay for compiling the code. */
const WARM_UP = 50;

/** Bytes of a question, and of an answer. */
const MESSAGE_BYTES = 500;

/**
 * A thread of many short exchanges with a model that costs nothing: what is left is LangGraph and
 * its saver. Prints how an exchange's time and the database grow, for our saver and, in the same
 * process, for LangGraph's MemorySaver, which writes nothing to a disk.
 */
export async function run(options: ExchangesOptions = {}): Promise<readonly ExchangesResult[]> {
  const size = options.size ?? 1000;
  const results = [await measureReprise(size), await measureMemory(size)];
  print(results, options.json === true);
  return results;
}

async function measureReprise(size: number): Promise<ExchangesResult> {
  await exchangeOnDisk(WARM_UP);
  const { times, bytes } = await exchangeOnDisk(size);
  return result("reprise", times, bytes);
}

async function exchangeOnDisk(size: number): Promise<{ times: number[]; bytes: number }> {
  const folder = mkdtempSync(join(tmpdir(), "reprise-bench-"));
  const path = join(folder, "bench.db");
  try {
    const store = await openSqliteStore({ path });
    const session = await store.write(createSession, {});
    const saver = createCheckpointSaver({ store });
    const times = await exchange(saver, { thread: threadId(session.id, 0), size });
    await store.close();
    return { times, bytes: statSync(path).size };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function measureMemory(size: number): Promise<ExchangesResult> {
  await exchange(new MemorySaver(), { thread: threadId(newId(), 0), size: WARM_UP });
  const times = await exchange(new MemorySaver(), { thread: threadId(newId(), 0), size });
  return result("MemorySaver", times, null);
}

/** Milliseconds of each exchange. */
async function exchange(
  checkpointer: BaseCheckpointSaver,
  { thread, size }: { thread: string; size: number },
): Promise<number[]> {
  const model = new InstantModel((messages) => said(`answer ${messages.length}`));
  const agent = createAgent({ model, tools: [], checkpointer });
  const times: number[] = [];
  for (let index = 0; index < size; index += 1) {
    const start = performance.now();
    await agent.invoke(
      { messages: [new HumanMessage(said(`question ${index}`))] },
      { configurable: { thread_id: thread }, durability: "sync" },
    );
    times.push(performance.now() - start);
  }
  return times;
}

function said(text: string): string {
  return text.padEnd(MESSAGE_BYTES, " lorem ipsum dolor sit amet");
}

function result(saver: string, times: readonly number[], bytes: number | null): ExchangesResult {
  const first = median(times.slice(0, 10));
  const last = median(times.slice(-10));
  return {
    saver,
    exchanges: times.length,
    first_ten_ms: first,
    last_ten_ms: last,
    last_to_first: last / first,
    bytes,
    bytes_to_said: bytes === null ? null : bytes / (times.length * 2 * MESSAGE_BYTES),
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

function print(results: readonly ExchangesResult[], json: boolean): void {
  if (json) {
    console.log(JSON.stringify({ bench: "exchanges", results }));
    return;
  }
  for (const one of results) {
    console.log(
      [
        `${one.saver}: ${one.exchanges} exchanges of ${MESSAGE_BYTES} + ${MESSAGE_BYTES} bytes`,
        `  first ten ${one.first_ten_ms.toFixed(2)} ms, last ten ${one.last_ten_ms.toFixed(2)} ms, ratio ${one.last_to_first.toFixed(2)}`,
        one.bytes === null
          ? "  nothing on disk"
          : `  ${one.bytes} bytes on disk, ${one.bytes_to_said?.toFixed(2)} times what was said`,
      ].join("\n"),
    );
  }
}
