import { expect, it } from "vitest";

import { createExchanger } from "../../../src/agent/exchange.ts";
import { beginThread } from "../../../src/exchange/start-thread.ts";
import { type ErrorCode, RepriseError } from "../../../src/core/errors.ts";
import { takeLease } from "../../../src/store/records/leases/lease.ts";
import { openExchange } from "../../../src/store/records/messages/begin-exchange.ts";
import type { Store } from "../../../src/store/store.ts";
import { expectNoDrift } from "../../helpers/compare.ts";
import { owner } from "../../helpers/engines.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { startModelServer } from "../../helpers/model-server.ts";

const live = { listener: () => undefined, signal: new AbortController().signal };

/**
 * A store whose database goes away within an exchange: nothing of what follows its beginning is
 * stored, and where `unnoticed` the beginning is, but its answer gets lost.
 */
function losing(
  store: Store,
  state: { away: boolean; unnoticed: boolean },
  code: ErrorCode = "database_unavailable",
): Store {
  const lost = (): RepriseError => new RepriseError(code, "away");
  return {
    ...store,
    write: async (operation, input) => {
      const isOpening = Object.is(operation, openExchange);
      if (state.away && !isOpening) {
        throw lost();
      }
      const output = await store.write(operation, input);
      if (state.away && state.unnoticed && isOpening) {
        throw lost();
      }
      return output;
    },
  };
}

/** What anybody else who wants the session is answered. */
function takeElsewhere(store: Store, session_id: string): Promise<unknown> {
  return store.write(takeLease, { session_id, owner, life_ms: 60_000 });
}

it.each([
  { what: "was taken unnoticed", unnoticed: true, code: "database_unavailable" },
  { what: "could not be given back", unnoticed: false, code: "database_unavailable" },
  { what: "a full disk kept from being given back", unnoticed: false, code: "database_full" },
  { what: "a closed store kept from being given back", unnoticed: false, code: "shutting_down" },
] as const)(
  "[LEASE-4] a lease that $what does not block a later exchange of this process",
  async (how) => {
    const server = await startModelServer({
      answer: (_, index) => ({ content: `answer ${index}` }),
    });
    const bench = await openBench(server);
    const state = { away: true, unnoticed: how.unnoticed };
    const lost = createExchanger({ ...bench.parts, store: losing(bench.store, state, how.code) });
    const request = { session_id: bench.session.id, text: "first" };
    await expect(lost.exchange(request, live)).rejects.toMatchObject({ code: how.code });
    // to anybody else it is as busy as before
    await expect(takeElsewhere(bench.store, bench.session.id)).rejects.toMatchObject({
      code: "session_busy",
    });

    // also for what opens the database again
    const exchanger = createExchanger(bench.parts);
    expect(await exchanger.exchange({ ...request, text: "second" }, live)).toMatchObject({
      answer: "answer 0",
    });
    const rows = await expectNoDrift(bench.database, bench.session.id);
    expect(rows.map(({ content }) => content)).toEqual(["first", "second", "answer 0"]);
  },
);

it("[LEASE-4] a lease that was lost does not block `/clear` in the same process", async () => {
  const server = await startModelServer({ answer: () => ({ content: "an answer" }) });
  const bench = await openBench(server);
  const state = { away: true, unnoticed: false };
  const store = losing(bench.store, state);
  const exchanger = createExchanger({ ...bench.parts, store });
  const request = { session_id: bench.session.id, text: "first" };
  await expect(exchanger.exchange(request, live)).rejects.toMatchObject({
    code: "database_unavailable",
  });
  const clear = { id: bench.session.id, archive: true };
  // it could not give its own lease back either
  await expect(beginThread(store, clear)).rejects.toMatchObject({ code: "database_unavailable" });
  await expect(takeElsewhere(bench.store, bench.session.id)).rejects.toMatchObject({
    code: "session_busy",
  });

  state.away = false;

  expect(await beginThread(store, clear)).toMatchObject({
    thread_suffix: 1,
    activity: "idle",
  });
});
