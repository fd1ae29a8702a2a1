import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { type BaseCheckpointSaver, MemorySaver } from "@langchain/langgraph-checkpoint";
import { createAgent } from "langchain";
import { z } from "zod";

import { createCheckpointSaver } from "../src/agent/checkpoints/saver.ts";
import { newId } from "../src/core/ids.ts";
import { threadId } from "../src/core/threads.ts";
import { finishExchange } from "../src/store/leases/finish.ts";
import { type LeaseOwner, takeLease } from "../src/store/leases/lease.ts";
import { createSession } from "../src/store/sessions/create.ts";
import { openSqliteStore } from "../src/store/sqlite/open.ts";
import { InstantModel } from "./instant-model.ts";
import { type Bench, type Measurement, median, type Reach } from "./measurement.ts";

interface ExchangesResult {
  readonly saver: string;
  readonly exchanges: number;
  /** Tools that each exchange calls, one after the other. */
  readonly tool_rounds: number;
  /** Median milliseconds of an exchange. */
  readonly first_ten_ms: number;
  readonly last_ten_ms: number;
  /** The whole database with the mirror, after a checkpoint of its WAL; memory has none. */
  readonly bytes: number | null;
  readonly said: number;
}

/** Exchanges before the clock starts, so that the first ten do not pay for compiling the code. */
const WARM_UP = 50;

/** Bytes of a question, and of an answer. */
const MESSAGE_BYTES = 500;
/** Bytes of a tool's result. */
const RESULT_BYTES = 4096;
const TOOL_ROUNDS = 3;

interface Course {
  readonly size: number;
  readonly rounds: number;
}

/** Exchanges in one thread, with and without tools, and the same on LangGraph's MemorySaver. */
export const bench: Bench = {
  about: "our time for an exchange at the end of a long thread, and its bytes on disk",
  run: async ({ scale }) => {
    const size = Math.max(20, Math.round(1000 * scale));
    const plain = await measureReprise({ size, rounds: 0 });
    const tools = await measureReprise({ size, rounds: TOOL_ROUNDS });
    const memory = await measureMemory({ size, rounds: 0 });
    return [...growthAndBytes(plain), ...growthAndBytes(tools), growth(memory, null)];
  },
};

function growthAndBytes(result: ExchangesResult): Measurement[] {
  const bytes: Measurement = {
    what: `${subject(result)}: bytes on disk, held against what was said`,
    unit: "bytes",
    ours: result.bytes ?? Number.NaN,
    floor: result.said,
    reach: { at_most: 4 },
  };
  return [growth(result, { at_most: 1.5 }), bytes];
}

function growth(result: ExchangesResult, reach: Reach | null): Measurement {
  return {
    what: `${subject(result)}: the last ten, held against the first ten`,
    unit: "ms",
    ours: result.last_ten_ms,
    floor: result.first_ten_ms,
    reach,
  };
}

function subject({ saver, exchanges, tool_rounds }: ExchangesResult): string {
  const tools = tool_rounds === 0 ? "" : ` with ${tool_rounds} tools of ${RESULT_BYTES} bytes`;
  return `${saver}, ${exchanges} exchanges${tools}`;
}

async function measureReprise(course: Course): Promise<ExchangesResult> {
  await exchangeOnDisk({ ...course, size: WARM_UP });
  const { times, bytes } = await exchangeOnDisk(course);
  return result({ saver: "reprise", course, times, bytes });
}

async function exchangeOnDisk(course: Course): Promise<{ times: number[]; bytes: number }> {
  const folder = mkdtempSync(join(tmpdir(), "reprise-bench-"));
  const path = join(folder, "bench.db");
  try {
    const store = await openSqliteStore({ path });
    const session = await store.write(createSession, {});
    const saver = createCheckpointSaver({ store });
    const thread_id = threadId(session.id, 0);
    const times = await exchange({ ...course, saver, thread_id }, async (invoke) => {
      const lease = { session_id: session.id, owner: OWNER, life_ms: 60_000 };
      const fence = await store.write(takeLease, lease);
      await invoke();
      saver.forgetFolded(thread_id, await store.write(finishExchange, { fence, thread_id }));
    });
    await store.close();
    return { times, bytes: statSync(path).size };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const OWNER: LeaseOwner = { host: "bench", machine: "bench", pid: 1, command: "bench", since: "" };

async function measureMemory(course: Course): Promise<ExchangesResult> {
  const times = async (size: number): Promise<number[]> => {
    const parts = { ...course, size, saver: new MemorySaver(), thread_id: threadId(newId(), 0) };
    return exchange(parts, (invoke) => invoke());
  };
  await times(WARM_UP);
  return result({ saver: "MemorySaver", course, times: await times(course.size), bytes: null });
}

/** Milliseconds of each exchange, each inside `around`. */
async function exchange(
  parts: Course & { readonly saver: BaseCheckpointSaver; readonly thread_id: string },
  around: (invoke: () => Promise<void>) => Promise<void>,
): Promise<number[]> {
  const { size, rounds, saver, thread_id } = parts;
  const agent = createAgent({
    model: new InstantModel((messages) => answer(messages, rounds)),
    tools: rounds === 0 ? [] : [look],
    checkpointer: saver,
  });
  const times: number[] = [];
  for (let index = 0; index < size; index += 1) {
    const messages = [new HumanMessage(said(`question ${index}`))];
    const start = performance.now();
    await around(async () => {
      await agent.invoke({ messages }, { configurable: { thread_id }, durability: "sync" });
    });
    times.push(performance.now() - start);
  }
  return times;
}

/** No two results are the same: the same text would be stored once. */
const look = tool(({ at }) => `result ${at}`.padEnd(RESULT_BYTES, " lorem ipsum dolor sit amet"), {
  name: "look",
  description: "looks",
  schema: z.object({ at: z.number() }),
});

function answer(messages: readonly BaseMessage[], rounds: number): AIMessage {
  const at = messages.length;
  const asked = messages.findLastIndex(({ type }) => type === "human");
  return at - asked > rounds * 2
    ? new AIMessage(said(`answer ${at}`))
    : new AIMessage({
        content: "",
        tool_calls: [{ id: `call-${at}`, name: "look", args: { at } }],
      });
}

function said(text: string): string {
  return text.padEnd(MESSAGE_BYTES, " lorem ipsum dolor sit amet");
}

function result(parts: {
  readonly saver: string;
  readonly course: Course;
  readonly times: readonly number[];
  readonly bytes: number | null;
}): ExchangesResult {
  const { saver, course, times, bytes } = parts;
  const first = median(times.slice(0, 10));
  const last = median(times.slice(-10));
  const spoken = course.size * (2 * MESSAGE_BYTES + course.rounds * RESULT_BYTES);
  return {
    saver,
    exchanges: course.size,
    tool_rounds: course.rounds,
    first_ten_ms: first,
    last_ten_ms: last,
    bytes,
    said: spoken,
  };
}
