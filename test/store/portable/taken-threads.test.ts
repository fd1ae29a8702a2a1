import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";

import { isRepriseError } from "../../../src/core/errors.ts";
import { threadId } from "../../../src/core/threads.ts";
import { RepriseSaver } from "../../../src/entries/langgraph.ts";
import { copyStore } from "../../../src/store/portable/copy-store.ts";
import { importTree } from "../../../src/store/portable/import-tree.ts";
import { readSessionTree } from "../../../src/store/portable/read-tree.ts";
import { deleteSessionTree } from "../../../src/store/records/sessions/delete-tree.ts";
import { listSessions } from "../../../src/store/records/sessions/list.ts";
import type { Store } from "../../../src/store/store.ts";
import { describeEngine, newSession, openFresh } from "../../helpers/engines.ts";
import { sync } from "../../helpers/sessions/sync.ts";

/** Brings a session to another database: null, or the code of the refusal. */
type Bring = (source: Store, target: Store, id: string) => Promise<string | null>;

const WAYS: readonly (readonly [string, Bring])[] = [
  [
    "imported",
    async (source, target, id) =>
      outcomeOf(importTree(target, await source.read(readSessionTree, { id }))),
  ],
  [
    "copied",
    async (source, target) => {
      const onProgress = () => undefined;
      const { refused } = await copyStore({ source, target, intoExisting: true, onProgress });
      return refused[0]?.code ?? null;
    },
  ],
  [
    "synced",
    async (source, target) =>
      (await sync(source, target)).find(({ code }) => code !== null)?.code ?? null,
  ],
];

async function outcomeOf(work: Promise<unknown>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (error) {
    return isRepriseError(error) ? error.code : String(error);
  }
}

const configOf = (thread_id: string) => ({ configurable: { thread_id, checkpoint_ns: "" } });

function putEmpty(saver: RepriseSaver, thread_id: string): Promise<unknown> {
  const metadata = { source: "input", step: -1, parents: {} } as const;
  return saver.put(configOf(thread_id), emptyCheckpoint(), metadata, {});
}

async function sessionIds(store: Store): Promise<string[]> {
  const { sessions } = await store.read(listSessions, { limit: 100 });
  return sessions.map(({ id }) => id).sort();
}

describe.each(WAYS)("a session that is %s", (_, bring) => {
  describeEngine("beside threads without a session", (engine) => {
    it("[SAVER-6] is refused if its own or a sub-agent's threads would be theirs", async () => {
      const [source, target] = [await openFresh(engine), await openFresh(engine)];
      const saver = RepriseSaver.from(target);
      const { id } = await newSession(source);
      const { id: child } = await newSession(source, { parent_session_id: id });
      for (const taken of [id, child]) {
        const thread = threadId(taken, 3);
        await putEmpty(saver, thread);
        await putEmpty(saver, `${taken}:notes`);
        expect(await bring(source, target, id)).toBe("session_exists");
        expect(await sessionIds(target)).toEqual([]);
        expect(await saver.getTuple(configOf(thread))).toBeDefined();
        await saver.deleteThread(thread);
      }
      // names that no session's thread has are in nobody's way
      expect(await bring(source, target, id)).toBe(null);
      expect(await sessionIds(target)).toEqual([id, child].sort());
      await putEmpty(saver, `${child}:notes`);
      expect(await outcomeOf(putEmpty(saver, threadId(child, 3)))).toBe("lease_required");
    });

    it("[SAVER-6] gets a thread, or a saver does, never both", async () => {
      const [source, target] = [await openFresh(engine), await openFresh(engine)];
      const saver = RepriseSaver.from(target);
      for (let round = 0; round < 5; round += 1) {
        const { id } = await newSession(source);
        const outcomes = await Promise.all([
          bring(source, target, id),
          outcomeOf(putEmpty(saver, threadId(id, 0))),
        ]);
        const refusals = outcomes.filter((code) => code !== null);
        expect(refusals).toHaveLength(1);
        expect(["session_exists", "lease_required"]).toContain(refusals[0]);
        // a copy brings all sessions, and the next round has its own
        await source.write(deleteSessionTree, { id });
      }
    });
  });
});
