import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { createAgent } from "langchain";
import { z } from "zod";

import { newId } from "../src/core/ids.ts";
import { InstantModel } from "./instant-model.ts";
import { type Bench, type Measurement, median } from "./measurement.ts";
import { answerOf, questionOf, RESULT_BYTES, TOOL_ROUNDS } from "./said.ts";
import { type Course, courseOf, processorTime } from "./session-course.ts";

/** Exchanges whose median stands for a place in the session. */
const SAMPLE = 20;

/**
 * Whole exchanges of a session, as `createExchanger` carries them out: lease, user's row, compaction
 * view, agent, checkpoints with their rows, release and fold. Only the model costs nothing.
 */
export const bench: Bench = {
  about: "our time for an exchange however long its session is, and its bytes on disk",
  run: async ({ scale }) => {
    const sizes = { short: 10, long: scaled(1000, scale), longest: scaled(5000, scale) };
    await courseOf({ exchanges: scaled(200, scale), rounds: TOOL_ROUNDS });
    const plain = await courseOf({ exchanges: sizes.longest, rounds: 0 });
    const tools = await courseOf({ exchanges: sizes.long, rounds: TOOL_ROUNDS });
    const memory = await memoryTimes(scaled(400, scale));
    return [
      growth({ subject: "exchange", at: sizes.long, course: plain, reach: 1.5 }),
      growth({ subject: "exchange", at: sizes.longest, course: plain, reach: 1.5 }),
      bytes("exchange", plain),
      growth({ subject: WITH_TOOLS, at: sizes.long, course: tools, reach: 1.5 }),
      bytes(WITH_TOOLS, tools),
      reading("exchange", plain),
      reading(WITH_TOOLS, tools),
      growth({ subject: "LangGraph's MemorySaver", at: memory.times.length, course: memory }),
    ];
  },
};

/** The longest session with tools, which takes minutes to fill. */
export const longBench: Bench = {
  about: "our time for an exchange with tools in a session of 5,000 exchanges",
  run: async ({ scale }) => {
    await courseOf({ exchanges: scaled(200, scale), rounds: TOOL_ROUNDS });
    const at = scaled(5000, scale);
    const tools = await courseOf({ exchanges: at, rounds: TOOL_ROUNDS });
    return [
      growth({ subject: WITH_TOOLS, at, course: tools, reach: 1.5 }),
      bytes(WITH_TOOLS, tools),
      reading(WITH_TOOLS, tools),
    ];
  },
};

const WITH_TOOLS = `exchange with ${TOOL_ROUNDS} tool rounds of ${RESULT_BYTES} bytes`;

function scaled(size: number, scale: number): number {
  return Math.max(2 * SAMPLE, Math.round(size * scale));
}

function growth(parts: {
  readonly subject: string;
  readonly at: number;
  readonly course: Pick<Course, "times">;
  readonly reach?: number;
}): Measurement {
  const { subject, at, course, reach } = parts;
  return {
    what: `${subject}: number ${at}, held against number 10`,
    unit: "ms",
    ours: median(course.times.slice(at - SAMPLE, at)),
    floor: median(course.times.slice(0, SAMPLE)),
    reach: reach === undefined ? null : { at_most: reach },
  };
}

function bytes(subject: string, course: Course): Measurement {
  return {
    what: `${subject}: bytes on disk after ${course.times.length}, held against what was said`,
    unit: "bytes",
    ours: course.bytes,
    floor: course.said,
    reach: { at_most: 4 },
  };
}

function reading(subject: string, course: Course): Measurement {
  return {
    what: `${subject}: the first in a program that was started anew, behind ${course.times.length}`,
    unit: "ms",
    ours: course.afresh,
    floor: null,
    reach: null,
  };
}

/** The same without tools on LangGraph's own saver, which keeps everything in memory. */
async function memoryTimes(exchanges: number): Promise<{ times: readonly number[] }> {
  const times: number[] = [];
  for (const size of [50, exchanges]) {
    const agent = createAgent({
      model: new InstantModel((messages) => answerOf(messages, 0)),
      tools: [unused],
      checkpointer: new MemorySaver(),
    });
    const thread = { configurable: { thread_id: newId() }, durability: "sync" as const };
    times.length = 0;
    for (let index = 0; index < size; index += 1) {
      const messages: BaseMessage[] = [new HumanMessage(questionOf(index))];
      times.push(await processorTime(() => agent.invoke({ messages }, thread)));
    }
  }
  return { times };
}

const unused = tool(() => "", { name: "unused", description: "not called", schema: z.object({}) });
