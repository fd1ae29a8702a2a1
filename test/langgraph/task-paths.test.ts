import { emptyCheckpoint, MemorySaver } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { expect, it } from "vitest";

import { RepriseSaver } from "../../src/entries/langgraph.ts";
import { describeEngine, openFresh } from "../helpers/engines.ts";
import { testSize } from "../helpers/size.ts";

const thread = { configurable: { thread_id: "thread", checkpoint_ns: "" } };
const metadata = { source: "input", step: -1, parents: {} } as const;

const write = fc.record({
  task: fc.constantFrom("a", "b", "c"),
  path: fc.constantFrom(undefined, "", "~__pregel_pull, b", "~__pregel_pull, a", "\uff5e", "🙂"),
  channels: fc.array(fc.constantFrom("x", "y", "__interrupt__", "__error__"), { maxLength: 3 }),
});

describeEngine("what tasks wrote", (engine) => {
  it("[SAVER-8] is returned by task path, task id and index, as MemorySaver does", async () => {
    const saver = RepriseSaver.from(await openFresh(engine));
    const memory = new MemorySaver();
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(write, { maxLength: 8 }), async (calls) => {
        const checkpoint = { ...emptyCheckpoint(), id: `checkpoint ${(count += 1)}` };
        const config = await saver.put(thread, checkpoint, metadata, {});
        await memory.put(thread, checkpoint, metadata);
        for (const [number, { task, path, channels }] of calls.entries()) {
          const writes = channels.map((name, index): [string, string] => [
            name,
            `${number}.${index}`,
          ]);
          await saver.putWrites(config, writes, task, path);
          await memory.putWrites(config, writes, task, path);
        }
        const ours = await saver.getTuple(config);
        expect(ours?.pendingWrites).toEqual((await memory.getTuple(config))?.pendingWrites);
      }),
      { numRuns: 20 * testSize("threads") },
    );
  });

  it("[SAVER-8] writes without a path come first", async () => {
    const store = await openFresh(engine);
    const saver = RepriseSaver.from(store);
    const config = await saver.put(thread, emptyCheckpoint(), metadata, {});
    await saver.putWrites(config, [["x", 1]], "other", "~a");
    await saver.putWrites(config, [["x", 2]], "without");
    await saver.putWrites(config, [["x", 3]], "a", "~");
    expect((await saver.getTuple(config))?.pendingWrites).toEqual([
      ["without", "x", 2],
      ["a", "x", 3],
      ["other", "x", 1],
    ]);
  });
});
