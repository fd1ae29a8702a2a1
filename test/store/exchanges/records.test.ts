import { sql } from "kysely";
import { expect, it } from "vitest";

import type { ExchangeState } from "../../../src/core/exchanges.ts";
import { listExchanges, readExchange } from "../../../src/store/exchanges/read.ts";
import type { Fence } from "../../../src/store/leases/fence.ts";
import { finishExchange } from "../../../src/store/leases/finish.ts";
import { releaseLease, takeLease } from "../../../src/store/leases/lease.ts";
import { appendUserMessage } from "../../../src/store/messages/append.ts";
import { beginExchange } from "../../../src/store/messages/begin-exchange.ts";
import { endSession, startThread } from "../../../src/store/sessions/change.ts";
import type { Store } from "../../../src/store/store.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { describeEngines, newSession, openFresh, owner } from "../../helpers/engines.ts";
import { randomOf, seedOf } from "../../helpers/random.ts";

const WITH = { model: "demo:echo", persona_name: "assistant" };

describeEngines("the record of an exchange", (engine) => {
  it("[RECORD-1] [RECORD-2] says what an exchange was, with its messages and tokens", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await store.write(appendUserMessage, { reference: id, content: "waits" });
    const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    const exchange_id = "0d4c9c52-64c2-4b5e-a2c9-0d2a0b1f0e01";
    const caller = { origin: "terminal", authenticated: true } as const;
    const begin = { fence, content: "a question", exchange_id, caller, ...WITH };
    const begun = await store.write(beginExchange, begin);
    expect(begun.record).toEqual({ n: 1, id: exchange_id });
    const running = await store.read(readExchange, { reference: id.slice(0, 8), n: 1 });
    expect(running).toMatchObject({
      session_id: id,
      n: 1,
      id: exchange_id,
      state: "running",
      asked_by: "terminal",
      ...WITH,
      first_seq: 1,
      last_seq: null,
      input_tokens: null,
      ended_at: null,
    });
    await store.write(finishExchange, { fence, thread_id: `${id}:0` });
    const done = await store.read(readExchange, { reference: id, n: 1 });
    expect(done).toMatchObject({ state: "done", first_seq: 1, last_seq: 2, error_code: null });
    expect(done.input_tokens).toBeGreaterThan(0);
    expect(done.revision).toBeGreaterThan(running.revision);
    expect(Date.parse(done.ended_at ?? "")).toBeGreaterThanOrEqual(Date.parse(done.begun_at ?? ""));
    const none = store.read(readExchange, { reference: id, n: 2 });
    await expect(none).rejects.toMatchObject({ code: "exchange_not_found" });
  });

  it("[RECORD-10] names no messages if it stored none", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const failure = { code: "model_failed", sentence: "The model failed." };
    for (const content of ["a question", null]) {
      const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
      await store.write(beginExchange, { fence, content, ...WITH });
      await store.write(releaseLease, { fence, finished: false, failure });
      // as a checkpoint would
      await store.write(
        ({ db }) => db.updateTable("messages").set({ checkpointed: 1 }).execute(),
        null,
      );
    }
    const records = await store.read(listExchanges, { reference: id, limit: 9 });
    expect(records.map(({ first_seq, last_seq }) => [first_seq, last_seq])).toEqual([
      [null, null],
      [1, 1],
    ]);
  });

  it("[RECORD-4] stays what it is when something else takes the lease", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    const walk = createWalk(store, id);
    await walk.act("ask");
    await walk.act("die");
    expect(await walk.states()).toEqual(["interrupted"]);
    await walk.act("compact");
    await walk.act("compact");
    expect(await walk.states()).toEqual(["interrupted"]);
    await walk.act("continue");
    await walk.act("finish");
    expect(await walk.states()).toEqual(["done"]);
  });

  it("[RECORD-3] [RECORD-5] [RECORD-6] [RECORD-7] follows the session through random lives", async () => {
    const store = await openFresh(engine);
    const seed = seedOf("records");
    for (let life = 0; life < LIVES; life += 1) {
      const random = randomOf(seed + life);
      const { id } = await newSession(store);
      const walk = createWalk(store, id);
      const acts: Act[] = [];
      for (let step = 0; step < STEPS; step += 1) {
        const possible = walk.possible();
        const act = possible[Math.floor(random() * possible.length)] ?? "ask";
        acts.push(act);
        await walk.act(act);
        const told = `seed ${seed}, life ${life}: ${acts.join(" ")}`;
        expect(await walk.states(), told).toEqual(walk.expected());
        const { findings } = await verifySession(store, id);
        expect(findings, told).toEqual([]);
      }
    }
  });
});

const LIVES = 8;
const STEPS = 20;

type Act =
  | "ask"
  | "continue"
  | "finish"
  | "stop"
  | "break_off"
  | "fail"
  | "wait"
  | "cut"
  | "die"
  | "clear"
  | "compact"
  | "older_finishes"
  | "older_dies"
  | "end";

/** One session with what its exchanges have to be. */
function createWalk(store: Store, id: string) {
  const states: ExchangeState[] = [];
  let fence: Fence | null = null;
  let isOpen = false;
  let hasEnded = false;
  /** No checkpoint takes a message here, so it waits until it is archived. */
  let isPending = false;
  const set = (state: ExchangeState): void => {
    states[states.length - 1] = state;
  };
  const stopOpen = (): void => {
    for (const [index, state] of states.entries()) {
      if (state === "interrupted" || state === "waiting" || state === "running") {
        states[index] = "stopped";
      }
    }
  };
  const begin = async (content: string | null): Promise<void> => {
    fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    const { record } = await store.write(beginExchange, { fence, content, ...WITH });
    const before = states.findLast((state) => state === "interrupted" || state === "waiting");
    if (content === null && isOpen && before !== undefined) {
      states[states.lastIndexOf(before)] = "running";
    } else if (content === null && !isOpen && !isPending) {
      expect(record).toBeNull();
      await store.write(releaseLease, { fence, finished: true });
      fence = null;
      return;
    } else {
      stopOpen();
      states.push("running");
    }
    expect(record?.n).toBe(states.lastIndexOf("running") + 1);
    isOpen = true;
    isPending ||= content !== null;
  };
  const leave = async (input: Omit<Parameters<typeof releaseLease>[1], "fence">): Promise<void> => {
    if (fence !== null) {
      await store.write(releaseLease, { fence, ...input });
      fence = null;
    }
  };
  /** What an older version, which knows no records, writes. */
  const older = (open: 0 | 1): Promise<unknown> =>
    store.write(
      ({ db }) =>
        sql`UPDATE sessions SET lease_epoch = lease_epoch + 1, exchange_open = ${sql.lit(open)} WHERE id = ${id}`.execute(
          db,
        ),
      null,
    );
  const acts: Record<Act, () => Promise<void>> = {
    ask: () => begin("a question"),
    continue: () => begin(null),
    finish: async () => {
      if (fence !== null) {
        await store.write(finishExchange, { fence, thread_id: `${id}:0` });
        fence = null;
        set("done");
        isOpen = false;
      }
    },
    stop: async () => {
      await leave({ finished: true, end: "stopped" });
      set("stopped");
      isOpen = false;
    },
    break_off: async () => {
      await leave({ finished: false, end: "stopped" });
      set("stopped");
    },
    fail: async () => {
      await leave({ finished: false, failure: { code: "model_failed", sentence: "No." } });
      set("failed");
    },
    wait: async () => {
      await leave({ finished: false, end: "waiting" });
      set("waiting");
    },
    cut: async () => {
      await leave({ finished: false });
      set("interrupted");
    },
    die: async () => {
      await store.write(
        ({ db }) =>
          db
            .updateTable("sessions")
            .set({ lease_expires_at: "2020-01-01T00:00:00.000Z" })
            .where("id", "=", id)
            .execute(),
        null,
      );
      fence = null;
      set("interrupted");
    },
    clear: async () => {
      await store.write(startThread, { id, archive: true });
      stopOpen();
      isOpen = false;
      isPending = false;
    },
    compact: async () => {
      const held = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
      await store.write(releaseLease, { fence: held, finished: false, end: null });
    },
    older_finishes: async () => {
      await older(0);
      stopOpen();
      isOpen = false;
    },
    older_dies: async () => {
      await older(1);
      isOpen = true;
      // the next one that takes the lease finds that it is another exchange's
      await acts.compact();
      stopOpen();
    },
    end: async () => {
      await store.write(endSession, { id });
      stopOpen();
      [fence, isOpen, hasEnded] = [null, false, true];
    },
  };
  return {
    act: (act: Act) => acts[act](),
    expected: () => states,
    states: async () => {
      const records = await store.read(listExchanges, { reference: id, limit: 200 });
      return records.toReversed().map(({ state }) => state);
    },
    possible: (): readonly Act[] => {
      if (hasEnded) {
        return ["end"];
      }
      return fence === null
        ? ["ask", "ask", "continue", "clear", "compact", "older_finishes", "older_dies", "end"]
        : ["finish", "stop", "break_off", "fail", "wait", "cut", "die", "end"];
    },
  };
}
