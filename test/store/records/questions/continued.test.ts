import { expect, it } from "vitest";

import { newId } from "../../../../src/core/ids.ts";
import type { GivenReply } from "../../../../src/core/questions.ts";
import { admissionChoices } from "../../../../src/core/text/words.ts";
import { releaseLease, takeLease } from "../../../../src/store/records/leases/lease.ts";
import type { Fence } from "../../../../src/store/records/leases/fence.ts";
import { beginExchange } from "../../../../src/store/records/messages/begin-exchange.ts";
import { onlyWaits } from "../../../../src/store/records/questions/continue.ts";
import { answerQuestion } from "../../../../src/store/records/questions/answer.ts";
import { insertQuestion } from "../../../../src/store/records/questions/ask.ts";
import { openChild } from "../../../../src/store/records/sessions/open-child.ts";
import type { Store } from "../../../../src/store/store.ts";
import { describeEngines, newSession, openFresh, owner } from "../../../helpers/engines.ts";
import { claimNext, queue, readyOf, statesOf } from "../../../helpers/queue.ts";
import { askIn } from "../../../helpers/waiting-session.ts";

const WITH = { model: "demo:echo", persona_name: "assistant" };

function park(store: Store, fence: Fence) {
  return store.write(releaseLease, { fence, finished: false, end: "waiting" });
}

function answer(
  store: Store,
  reference: string,
  question: string,
  given: GivenReply = { text: "yes" },
) {
  return store.write(answerQuestion, {
    reference,
    question,
    given,
    note: null,
    answered_by: "http",
  });
}

/** A root whose exchange a node runs, and so many sub-agents of it that wait, with one question each. */
async function asking(store: Store, count: number) {
  const { id } = await newSession(store, { repo_path: "/srv/project" });
  await queue(store, id, "a question");
  const fence = await claimNext(store, id);
  const children: { readonly id: string; readonly question: string }[] = [];
  for (let index = 0; index < count; index += 1) {
    const child = await store.write(openChild, { fence, parent_call_id: `call_${index}`, ...WITH });
    const own = await store.write(takeLease, { session_id: child.id, owner, life_ms: 60_000 });
    await store.write(beginExchange, { fence: own, content: "a task", parent_n: 1, ...WITH });
    const question = await askIn(store, child.id, {});
    await park(store, own);
    children.push({ id: child.id, question });
  }
  return { id, fence, children, state: async () => (await statesOf(store, id))[0] };
}

describeEngines("an exchange that waits for several answers", (engine) => {
  it("[QUESTION-11] [QUESTION-14] is queued with the answer that lets one of its sub-agents continue, and waits again", async () => {
    const store = await openFresh(engine);
    const { id, fence, children, state } = await asking(store, 2);
    const [first, second] = children;
    await park(store, fence);
    expect(await state()).toBe("waiting");
    await answer(store, id, first!.question);
    expect(await state()).toBe("queued");
    expect(await readyOf(store)).toMatchObject([{ session_id: id, content: null }]);
    expect(await store.read(onlyWaits, first!)).toBe(false);
    expect(await store.read(onlyWaits, second!)).toBe(true);
    // nothing was answered since: it does not run again
    await park(store, await claimNext(store, id));
    expect(await state()).toBe("waiting");
    await answer(store, id, second!.question);
    expect(await state()).toBe("queued");
  });

  it("[QUESTION-11] is queued when it would wait, if an answer came while it ran, and only once for it", async () => {
    const store = await openFresh(engine);
    const { id, fence, children, state } = await asking(store, 2);
    await answer(store, id, children[0]!.question);
    expect(await state()).toBe("running");
    await park(store, fence);
    expect(await state()).toBe("queued");
    await park(store, await claimNext(store, id));
    expect(await state()).toBe("waiting");
  });

  it("[QUESTION-11] waits if what was answered while it ran has asked again", async () => {
    const store = await openFresh(engine);
    const { id, fence, children, state } = await asking(store, 1);
    const [child] = children;
    await answer(store, id, child!.question);
    await askIn(store, child!.id, { index: 1 });
    await park(store, fence);
    expect(await state()).toBe("waiting");
  });

  it("[QUESTION-7] waits until all questions of a session are answered, in whatever order, also while it runs", async () => {
    const store = await openFresh(engine);
    for (const isParked of [true, false]) {
      const { id, fence, children, state } = await asking(store, 2);
      const [child] = children;
      const other = await askIn(store, child!.id, { index: 1 });
      if (isParked) {
        await park(store, fence);
      }
      await answer(store, id, other);
      if (!isParked) {
        await park(store, fence);
      }
      expect(await state()).toBe("waiting");
      expect(await store.read(onlyWaits, child!)).toBe(true);
      await answer(store, id, child!.question);
      expect(await state()).toBe("queued");
    }
  });

  it("[QUESTION-11] [QUESTION-20] is not continued by the answer to what no exchange waits for", async () => {
    const store = await openFresh(engine);
    const { id, fence, state } = await asking(store, 1);
    await park(store, fence);
    const question = {
      id: newId(),
      call_id: "messages:1",
      number: 1,
      kind: "messages",
      text: "May the agent get it?",
      choices: admissionChoices(),
      permission: null,
      shown_hash: "0".repeat(64),
      default: null,
    } as const;
    const thread = { session_id: id, thread_suffix: 0 };
    await store.write((tx) => insertQuestion(tx, thread, question), null);
    await answer(store, id, question.id, { choice: "yes" });
    expect(await state()).toBe("waiting");
  });

  it("[QUESTION-11] loses no answer that comes while it parks", async () => {
    const store = await openFresh(engine);
    for (let round = 0; round < 20; round += 1) {
      const { id, fence, children, state } = await asking(store, 2);
      const acts = [() => park(store, fence), () => answer(store, id, children[0]!.question)];
      await Promise.all((round % 2 === 0 ? acts : acts.toReversed()).map((act) => act()));
      expect(await state()).toBe("queued");
    }
  });
});
