import { expect, it } from "vitest";

import type { StatsBy } from "../../src/core/sessions.ts";
import type { CallRecord } from "../../src/core/cost/model-calls.ts";
import { readStats } from "../../src/store/records/model-calls/stats.ts";
import { deleteSessionTree } from "../../src/store/records/sessions/delete-tree.ts";
import { endSession } from "../../src/store/records/sessions/change.ts";
import { describeEngines, openFresh } from "../helpers/engines.ts";
import { PRICED_CALL, sessionWithCalls } from "../helpers/sessions/model-calls.ts";

const UNKNOWN: CallRecord = {
  ...PRICED_CALL,
  model: "openai:gpt-test",
  cache_read: null,
  price_micros: null,
  price_table: null,
};

describeEngines("stats", (engine) => {
  it("[COST-22] [COST-23] sum the requests of all sessions by day, session, folder and model", async () => {
    const store = await openFresh(engine);
    const by = (group: StatsBy, since?: string) =>
      store.read(readStats, {
        by: group,
        since: since === undefined ? undefined : new Date(since),
      });
    expect(await by("day")).toEqual([]);
    expect(await by("session")).toEqual([]);

    const first = await sessionWithCalls(store, {
      calls: [PRICED_CALL, UNKNOWN],
      ts: "2026-11-25T23:59:59.999Z",
      name: "first",
      repo_path: "/srv/a",
    });
    await sessionWithCalls(store, {
      calls: [PRICED_CALL],
      ts: "2026-11-26T00:00:00.000Z",
      parent_session_id: first,
      repo_path: "/srv/a",
    });
    const second = await sessionWithCalls(store, {
      calls: [UNKNOWN],
      ts: "2026-11-27T12:00:00.000Z",
    });

    const unknown = { input: 1000, cached: null, output: 50, cost_micros: null, unknown_calls: 1 };
    const priced = { input: 1000, cached: 600, output: 50, cost_micros: 1234, unknown_calls: 0 };
    expect(await by("day")).toEqual([
      { key: "2026-11-27", title: null, calls: 1, ...unknown },
      { key: "2026-11-26", title: null, calls: 1, ...priced },
      {
        key: "2026-11-25",
        title: null,
        calls: 2,
        ...priced,
        input: 2000,
        output: 100,
        unknown_calls: 1,
      },
    ]);
    const sum = {
      calls: 3,
      input: 3000,
      cached: 1200,
      output: 150,
      cost_micros: 2468,
      unknown_calls: 1,
    };
    expect(await by("session")).toEqual([
      { key: first, title: "first", ...sum },
      { key: second, title: null, calls: 1, ...unknown },
    ]);
    expect(await by("folder")).toEqual([
      { key: "/srv/a", title: null, ...sum },
      { key: null, title: null, calls: 1, ...unknown },
    ]);
    expect(await by("model")).toEqual([
      {
        key: PRICED_CALL.model,
        title: null,
        calls: 2,
        ...priced,
        input: 2000,
        cached: 1200,
        output: 100,
        cost_micros: 2468,
      },
      {
        key: UNKNOWN.model,
        title: null,
        calls: 2,
        ...unknown,
        input: 2000,
        output: 100,
        unknown_calls: 2,
      },
    ]);
    expect(await by("model", "2026-11-26T00:00:00Z")).toMatchObject([
      { key: PRICED_CALL.model, calls: 1 },
      { key: UNKNOWN.model, calls: 1 },
    ]);
    expect(await by("day", "2026-11-26T00:00:00.001Z")).toMatchObject([{ key: "2026-11-27" }]);

    await store.write(endSession, { id: second, state: "completed" });
    await store.write(deleteSessionTree, { id: second });
    expect(await by("day")).toHaveLength(2);
  });
});
