import { expect, it } from "vitest";

import { MAX_ATTEMPTS } from "../../../../src/core/exchanges.ts";
import { isDelegated, isRoot } from "../../../../src/core/session-tree.ts";
import { stopExchange } from "../../../../src/store/records/exchanges/change.ts";
import type { Fence } from "../../../../src/store/records/leases/fence.ts";
import { releaseLease, takeLease } from "../../../../src/store/records/leases/lease.ts";
import { beginExchange } from "../../../../src/store/records/messages/begin-exchange.ts";
import { answerQuestion } from "../../../../src/store/records/questions/answer.ts";
import { listOpenQuestions } from "../../../../src/store/records/questions/read.ts";
import { delegationTop } from "../../../../src/store/records/questions/tree.ts";
import { endSession } from "../../../../src/store/records/sessions/change.ts";
import { openChild } from "../../../../src/store/records/sessions/open-child.ts";
import { readSession } from "../../../../src/store/records/sessions/read.ts";
import type { Store } from "../../../../src/store/store.ts";
import { verifySession } from "../../../../src/store/verify/verify-session.ts";
import { describeEngines, newSession, openFresh, owner } from "../../../helpers/engines.ts";
import { claimNext, expire, queue, readyOf, revive, statesOf } from "../../../helpers/queue.ts";
import { askIn } from "../../../helpers/waiting-session.ts";

const WITH = { model: "demo:echo", persona_name: "assistant" };

function park(store: Store, fence: Fence) {
  return store.write(releaseLease, { fence, finished: false, end: "waiting" });
}

function answer(store: Store, reference: string, question: string) {
  const answered = { given: { text: "yes" }, note: null, answered_by: "http" } as const;
  return store.write(answerQuestion, { reference, question, ...answered });
}

/** A root, and a session below it that no call began. */
async function openPair(store: Store) {
  const root = await newSession(store, { repo_path: "/srv/project" });
  const below = await newSession(store, {
    repo_path: "/srv/project",
    parent_session_id: root.id,
  });
  return { root, below };
}

/** Lets the exchange of a session wait for the answer to a question. */
async function waitIn(store: Store, id: string): Promise<string> {
  await queue(store, id, "a question");
  const fence = await claimNext(store, id);
  const question = await askIn(store, id, {});
  await park(store, fence);
  return question;
}

describeEngines("a session below another one that no call began", (engine) => {
  it("[QUEUE-54] is neither a root nor delegated, and its messages are queued and run", async () => {
    const store = await openFresh(engine);
    const { root, below } = await openPair(store);
    expect([isRoot(root), isDelegated(root)]).toEqual([true, false]);
    expect([isRoot(below), isDelegated(below)]).toEqual([false, false]);
    await queue(store, below.id, "a question");
    expect(await readyOf(store)).toMatchObject([{ session_id: below.id }]);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const fence = await claimNext(store, below.id);
      const sub = await store.write(openChild, { fence, parent_call_id: "call", ...WITH });
      expect([isRoot(sub), isDelegated(sub)]).toEqual([false, true]);
      await expect(queue(store, sub.id, "more")).rejects.toMatchObject({ code: "session_busy" });
      await expire(store, below.id);
      await revive(store);
    }
    expect(await statesOf(store, below.id)).toEqual(["failed"]);
  });

  it("[QUEUE-54] continues with its own answers and those of its sub-agents, whatever the one above waits for", async () => {
    const store = await openFresh(engine);
    const { root, below } = await openPair(store);
    const above = await waitIn(store, root.id);
    await queue(store, below.id, "a question");
    const fence = await claimNext(store, below.id);
    const sub = await store.write(openChild, { fence, parent_call_id: "call", ...WITH });
    const own = await store.write(takeLease, { session_id: sub.id, owner, life_ms: 60_000 });
    await store.write(beginExchange, { fence: own, content: "a task", parent_n: 1, ...WITH });
    const question = await askIn(store, sub.id, {});
    await park(store, own);
    await park(store, fence);
    expect(await store.read(delegationTop, sub.id)).toBe(below.id);
    expect(
      (await store.read(listOpenQuestions, { reference: root.id })).map(({ id }) => id),
    ).toEqual([above]);
    await answer(store, below.id, question);
    expect(await statesOf(store, below.id)).toEqual(["queued"]);
    expect(await statesOf(store, root.id)).toEqual(["waiting"]);
    const again = await claimNext(store, below.id);
    const next = await askIn(store, below.id, { index: 1 });
    await answer(store, root.id, above);
    expect(await statesOf(store, root.id)).toEqual(["queued"]);
    await park(store, again);
    expect(await statesOf(store, below.id)).toEqual(["waiting"]);
    await answer(store, below.id, next);
    expect(await statesOf(store, below.id)).toEqual(["queued"]);
  });

  it("[QUEUE-54] keeps what it asks if the one above is stopped or superseded, and ends with it", async () => {
    const store = await openFresh(engine);
    const { root, below } = await openPair(store);
    await waitIn(store, root.id);
    const question = await waitIn(store, below.id);
    await store.write(stopExchange, { reference: root.id, n: 1 });
    expect(await statesOf(store, root.id)).toEqual(["stopped"]);
    await queue(store, root.id, "another question", { supersede: true });
    expect(await statesOf(store, below.id)).toEqual(["waiting"]);
    const open = await store.read(listOpenQuestions, { reference: below.id });
    expect(open.map(({ id }) => id)).toEqual([question]);
    expect((await verifySession(store, below.id)).findings).toEqual([]);
    await store.write(endSession, { id: root.id });
    expect((await store.read(readSession, below)).state).toBe("ended");
    expect(await statesOf(store, below.id)).toEqual(["stopped"]);
  });
});
