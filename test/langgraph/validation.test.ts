import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { openSaver, type TestSaver } from "../helpers/checkpoints/saver.ts";

// the suite was written for a runner with globals; this file alone gives them to it
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it });
const { deltaChannelHistoryTests, validate } =
  await import("@langchain/langgraph-checkpoint-validation");

const open = new Map<unknown, TestSaver>();

const initializer = {
  checkpointerName: "reprise",
  createCheckpointer: async () => {
    const test = await openSaver();
    open.set(test.saver, test);
    return test.saver;
  },
  destroyCheckpointer: async (saver: unknown) => {
    await open.get(saver)?.[Symbol.asyncDispose]();
    open.delete(saver);
  },
};

validate(initializer);
deltaChannelHistoryTests(initializer);
