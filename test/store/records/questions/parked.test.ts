import { expect, it } from "vitest";

import { releaseLease, takeLease } from "../../../../src/store/records/leases/lease.ts";
import { beginExchange } from "../../../../src/store/records/messages/begin-exchange.ts";
import { isStopAsked } from "../../../../src/store/records/exchanges/stop-asked.ts";
import { answerQuestion } from "../../../../src/store/records/questions/answer.ts";
import { listOpenQuestions } from "../../../../src/store/records/questions/read.ts";
import { startThread } from "../../../../src/store/records/sessions/change.ts";
import { describeEngines, newSession, openFresh, owner } from "../../../helpers/engines.ts";
import { queue, readyOf, statesOf } from "../../../helpers/queue.ts";
import { askIn, waitingSession } from "../../../helpers/waiting-session.ts";

describeEngines("an exchange that parks", (engine) => {
  it("[QUESTION-33] waits if a graph of others asks, whatever was answered in the session before", async () => {
    const store = await openFresh(engine);
    const { id, ids } = await waitingSession(store, null);
    const given = { given: { text: "red" }, note: null, answered_by: "http" } as const;
    await store.write(answerQuestion, { reference: id, question: ids[0] ?? "", ...given });
    expect(await statesOf(store, id)).toEqual(["queued"]);
    await store.write(startThread, { id, archive: false });
    const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    const begin = { content: "ask", model: null, persona_name: null, agent: "asking" };
    await store.write(beginExchange, { fence, ...begin });
    await store.write(releaseLease, { fence, finished: false, end: "waiting" });
    expect(await statesOf(store, id)).toEqual(["stopped", "waiting"]);
    expect(await readyOf(store)).toEqual([]);
  });

  it("[QUESTION-38] is stopped if a message supersedes its question before it parks", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    const begin = { fence, content: "ask", model: null, persona_name: null };
    await store.write(beginExchange, begin);
    await queue(store, id, "no question is open", { supersede: true });
    expect(await store.read(isStopAsked, fence)).toBe(false);
    await askIn(store, id, {});
    await queue(store, id, "another message", { supersede: true });
    expect(await store.read(isStopAsked, fence)).toBe(true);
    expect(await store.read(listOpenQuestions, { reference: id })).toEqual([]);
    await store.write(releaseLease, { fence, finished: false, end: "waiting" });
    expect(await statesOf(store, id)).toEqual(["stopped", "queued", "queued"]);
    expect((await readyOf(store)).map(({ n }) => n)).toEqual([2]);
  });
});
