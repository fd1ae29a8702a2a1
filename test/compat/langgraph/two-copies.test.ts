import { expect, it } from "vitest";

import { isRepriseError } from "../../../src/core/errors.ts";
import { readThreadNames } from "../../../src/store/checkpoints/threads/thread-names.ts";
import type { Store } from "../../../src/store/store.ts";
import { copyInto, OfficialFile, statesOf } from "../../helpers/checkpoints/official.ts";
import { openSaver } from "../../helpers/checkpoints/saver.ts";
import { testSize } from "../../helpers/size.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

async function idsIn(store: Store, threadId: string): Promise<string[]> {
  const names = await store.read(readThreadNames, threadId);
  return names.map(({ checkpoint_id }) => checkpoint_id);
}

/** A store that runs something before its nth write. */
function pausedBefore(store: Store, write: number, work: () => Promise<unknown>): Store {
  let writes = 0;
  return {
    ...store,
    write: async (operation, input) => {
      writes += 1;
      if (writes === write) {
        await work();
      }
      return store.write(operation, input);
    },
  };
}

it.each([1, 2, 3])(
  "[COPY-32] a copy that was paused before write %i finds what another one has stored",
  async (write) => {
    using source = new OfficialFile();
    await using target = await openSaver();
    const threads = ["one", "three", "two"];
    source.addChain("one", 10);
    source.addChain("two", 70);
    addWithoutIds(source, "three");
    const statesOfAll = () => Promise.all(threads.map((name) => statesOf(target.saver, name)));
    let stored: unknown;
    const paused = pausedBefore(target.store, write, async () => {
      expect(await copyInto(target.store, source.path)).toMatchObject({ refused: [], changed: [] });
      stored = await statesOfAll();
    });
    const report = await copyInto(paused, source.path);
    expect(report).toMatchObject({ refused: [], changed: [] });
    expect(report.copied.threads + report.present.threads).toBe(threads.length);
    expect(await statesOfAll()).toEqual(stored);
    expect((await idsIn(target.store, "two")).length).toBe(70);
  },
);

/** Messages that get their ids when they are stored. */
function addWithoutIds(source: OfficialFile, thread_id: string): void {
  const message = {
    lc: 1,
    type: "constructor",
    id: ["langchain_core", "messages", "AIMessage"],
    kwargs: { content: "no id", additional_kwargs: {}, response_metadata: {} },
  };
  const checkpoint_id = "1ef00000-0000-6000-8000-000000000000";
  const channel_values = { messages: [message] };
  source.add({ thread_id, checkpoint_id, checkpoint: { channel_values } });
  source.addWrite({ thread_id, checkpoint_id, channel: "c", value: JSON.stringify([message]) });
}

/** Repeats a copy that waited too long for a row of another one: on a slow machine those transactions take seconds. */
async function copyWhole(store: Store, path: string): ReturnType<typeof copyInto> {
  for (;;) {
    try {
      return await copyInto(store, path);
    } catch (error) {
      if (!isRepriseError(error, "database_locked")) {
        throw error;
      }
    }
  }
}

it("[COPY-32] several copies at the same time store every thread once", async () => {
  using source = new OfficialFile();
  await using target = await openSaver();
  const names = ["t1", "t2", "t3", "t4"].slice(0, testSize("several-copies"));
  const ids = new Map(names.map((name) => [name, source.addChain(name, 70)]));
  const reports = await Promise.all([1, 2, 3].map(() => copyWhole(target.store, source.path)));
  for (const report of reports) {
    expect(report).toMatchObject({ refused: [], changed: [] });
  }
  for (const [name, all] of ids) {
    expect(await idsIn(target.store, name)).toEqual(all);
  }
});

it("[COPY-32] a copy that fails deletes nothing that another one has stored", async () => {
  using source = new OfficialFile();
  const ids = source.addChain("thread", 100);
  const intact = `${temporaryFolder()}/intact.db`;
  source.db.exec(`VACUUM INTO '${intact}'`);
  source.db
    .prepare("UPDATE checkpoints SET checkpoint = 'no JSON' WHERE checkpoint_id = ?")
    .run(ids[80] ?? "");
  await using target = await openSaver();
  expect((await copyInto(target.store, source.path)).refused).toMatchObject([
    { code: "database_corrupt" },
  ]);
  expect(await idsIn(target.store, "thread")).toEqual([]);
  // the copy that fails has created the thread, and the other one completes it
  let isFirst = true;
  const store: Store = {
    ...target.store,
    write: async (operation, input) => {
      const stored = await target.store.write(operation, input);
      if (isFirst) {
        isFirst = false;
        expect((await copyInto(target.store, intact)).refused).toEqual([]);
      }
      return stored;
    },
  };
  const report = await copyInto(store, source.path);
  expect(report.refused).toMatchObject([{ code: "database_corrupt" }]);
  expect(await idsIn(target.store, "thread")).toEqual(ids);
});
