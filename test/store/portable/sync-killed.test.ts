import { expect, it } from "vitest";

import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { endSession } from "../../../src/store/records/sessions/change.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { deleteSessionTree } from "../../../src/store/records/sessions/delete-tree.ts";
import type { Store } from "../../../src/store/store.ts";
import { describeEngine, type Engine } from "../../helpers/engines.ts";
import { seededRandom } from "../../helpers/random.ts";
import { expectSound } from "../../helpers/sessions/forks.ts";
import { makeSession } from "../../helpers/sessions/steps.ts";
import { changedIn, sharedState, sync } from "../../helpers/sessions/sync.ts";
import { testLevel, testSize } from "../../helpers/size.ts";
import { startProgram } from "../../helpers/start-program.ts";

/** More than the writes of a sync of `openApart`. */
const MAX_WRITES = 120;

/** Two databases whose sessions are new, longer, apart, ended and deleted in one of them. */
async function openApart(engine: Engine) {
  const [first, second] = [await engine.create(), await engine.create()];
  const [here, there] = [await first.open(), await second.open()];
  const write = (store: Store, reference: string, content: string) =>
    store.write(appendUserMessage, { reference, content });
  const steps = [{ do: "exchange", text: "question" }] as const;
  const apart = await makeSession(here, { steps, children: [{ steps, children: [] }] });
  const [longer, ended, deleted] = [
    await here.write(createSession, {}),
    await here.write(createSession, {}),
    await here.write(createSession, {}),
  ];
  await sync(here, there);
  await write(here, apart, "of here");
  await write(there, apart, "of there");
  await write(there, longer.id, "more");
  await here.write(endSession, { id: ended.id });
  await there.write(deleteSessionTree, { id: deleted.id });
  await makeSession(here, { steps, children: [] });
  return { here, there, locations: [first.location, second.location] as const, apart };
}

describeEngine("a sync that is killed", (engine) => {
  it("[SYNC-9] leaves both databases whole before each of its writes, and another one does the rest", async () => {
    const random = seededRandom(`killed sync on ${engine.name}`);
    for (let kill = 1; kill <= testSize("sync-writes"); kill += 1) {
      const write = testLevel() === "long" ? kill : 1 + Math.floor(random() * MAX_WRITES);
      const { here, there, locations, apart } = await openApart(engine);
      const { signal, stdout, stderr } = await startProgram("store-sync.ts", [
        ...locations,
        String(write),
      ]).finished;
      const isDone = signal !== "SIGKILL";
      expect(stdout, stderr).toBe(isDone ? "done\n" : "");
      for (const store of [here, there]) {
        await expectSound(store, ...(await sharedState(store)).keys());
      }
      await sync(here, there);
      expect(changedIn(await sync(there, here))).toEqual([]);
      const state = await sharedState(here);
      expect(state).toEqual(await sharedState(there));
      // with its sub-agent and the fork, which does not have another one of it
      expect([state.size, state.has(apart)]).toEqual([6, true]);
      const texts = [...state.values()].join();
      for (const text of ["of here", "of there", "more"]) {
        expect(texts).toContain(text);
      }
      if (isDone && testLevel() === "long") {
        return;
      }
    }
    const isWhole = testLevel() === "long" && testSize("sync-writes") >= MAX_WRITES;
    expect(isWhole, "a run has more writes than were tried").toBe(false);
  }, 600_000);
});
