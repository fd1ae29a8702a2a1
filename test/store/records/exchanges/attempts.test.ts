import { expect, it } from "vitest";

import { CALL_STATUSES, type CallStatus } from "../../../../src/core/calls.ts";
import { MAX_ATTEMPTS, MAX_LOST_PROCESSES } from "../../../../src/core/exchanges.ts";
import { newId } from "../../../../src/core/ids.ts";
import type { Role } from "../../../../src/core/sessions.ts";
import { readExchange } from "../../../../src/store/records/exchanges/read.ts";
import type { Fence } from "../../../../src/store/records/leases/fence.ts";
import { appendUserMessage } from "../../../../src/store/records/messages/append.ts";
import { mirrorMessages } from "../../../../src/store/records/messages/mirror.ts";
import { openChild } from "../../../../src/store/records/sessions/open-child.ts";
import type { Store } from "../../../../src/store/store.ts";
import { describeEngine, newSession, openFresh } from "../../../helpers/engines.ts";
import { claimNext, expire, queue, revive, statesOf } from "../../../helpers/queue.ts";

/** What the process of an attempt stores before it dies. */
type Storing = (store: Store, fence: Fence) => Promise<unknown>;

/** Stores a message as a checkpoint does. */
function storing(
  role: Role,
  more: { readonly is_summary?: true; readonly status?: CallStatus } = {},
): Storing {
  return (store, { session_id }) =>
    store.write(mirrorMessages, {
      session_id,
      messages: [
        {
          message_id: newId(),
          role,
          content: "something",
          tool_calls: null,
          token_count: 1,
          is_summary: false,
          ...more,
          usage: null,
        },
      ],
    });
}

const answer = storing("assistant");

/** Lets a process take the exchange and die; returns its state after a node has found it. */
async function die(store: Store, id: string, storesFirst?: Storing): Promise<string | undefined> {
  const fence = await claimNext(store, id);
  await storesFirst?.(store, fence);
  await expire(store, id);
  await revive(store);
  return (await statesOf(store, id))[0];
}

/** How many processes it takes until the exchange has failed, if each stores the same. */
async function attemptsUntilFailed(store: Store, storesFirst?: Storing): Promise<number> {
  const { id } = await newSession(store, { repo_path: "/srv/project" });
  await queue(store, id, "a question");
  let attempts = 1;
  while ((await die(store, id, storesFirst)) === "queued" && attempts < 2 * MAX_LOST_PROCESSES) {
    attempts += 1;
  }
  expect(await store.read(readExchange, { reference: id, n: 1 })).toMatchObject({
    state: "failed",
    error_code: "attempts_used_up",
  });
  return attempts;
}

describeEngine("attempts of a queued exchange", (engine) => {
  it("[QUEUE-52] begin again once a model has answered since the last one", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await queue(store, id, "a question");
    for (let round = 0; round < 3; round += 1) {
      expect(await die(store, id, answer)).toBe("queued");
      for (let attempt = 2; attempt < MAX_ATTEMPTS; attempt += 1) {
        expect(await die(store, id)).toBe("queued");
      }
    }
    expect(await die(store, id)).toBe("failed");
    const failed = await store.read(readExchange, { reference: id, n: 1 });
    expect(failed.error_sentence).toBe(
      `The exchange ended ${MAX_ATTEMPTS} processes, and made no progress in between, so it is not tried again. Continue it to try once more.`,
    );
  });

  it("[QUEUE-52] begin again once a call has succeeded, and not with other results", async () => {
    const store = await openFresh(engine);
    for (const status of CALL_STATUSES) {
      const attempts = await attemptsUntilFailed(store, storing("tool", { status }));
      expect(attempts, status).toBe(status === "ok" ? MAX_LOST_PROCESSES : MAX_ATTEMPTS);
    }
  });

  it("[QUEUE-52] begin again once a model of a sub-agent has answered", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store, { repo_path: "/srv/project" });
    await queue(store, id, "a question");
    const inSubAgent: Storing = async (_, fence) => {
      const child = { parent_call_id: "call", persona_name: "assistant", model: "demo:echo" };
      const { id: session_id } = await store.write(openChild, { fence, ...child });
      await answer(store, { session_id, epoch: 1 });
    };
    for (let attempt = 1; attempt <= MAX_ATTEMPTS + 1; attempt += 1) {
      expect(await die(store, id, inSubAgent)).toBe("queued");
    }
  });

  it("[QUEUE-52] are not reset by what was there before, what people wrote, summaries and checkpoints", async () => {
    const store = await openFresh(engine);
    const appending: Storing = (_, { session_id }) =>
      store.write(appendUserMessage, { reference: session_id, content: "and?" });
    const cases: Record<string, Storing> = {
      nothing: () => Promise.resolve(),
      "a person's message": appending,
      "a message of a person in a checkpoint": storing("user"),
      "a summary": storing("assistant", { is_summary: true }),
    };
    for (const [name, storesFirst] of Object.entries(cases)) {
      expect(await attemptsUntilFailed(store, storesFirst), name).toBe(MAX_ATTEMPTS);
    }
    const { id } = await newSession(store);
    await answer(store, { session_id: id, epoch: 0 });
    await queue(store, id, "a question");
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1) {
      expect(await die(store, id)).toBe("queued");
    }
    expect(await die(store, id)).toBe("failed");
  });

  it("[QUEUE-53] end after so many processes, whatever progress each of them made", async () => {
    const store = await openFresh(engine);
    expect(await attemptsUntilFailed(store, answer)).toBe(MAX_LOST_PROCESSES);
  });
});
