import { expect, it } from "vitest";

import { type CallRecord, NO_COUNTS, NO_USAGE } from "../../src/core/cost/model-calls.ts";
import { importTree, withNewIds } from "../../src/store/portable/import-tree.ts";
import { exportText } from "../../src/store/portable/export-text.ts";
import { parseExport } from "../../src/store/portable/parse.ts";
import { readSessionTree } from "../../src/store/portable/read-tree.ts";
import { takeLease } from "../../src/store/records/leases/lease.ts";
import { readTreeUsage, usageOfSession } from "../../src/store/records/model-calls/read-usage.ts";
import { storeCallsAlone } from "../../src/store/records/model-calls/store-calls.ts";
import { deleteSessionTree } from "../../src/store/records/sessions/delete-tree.ts";
import { endSession } from "../../src/store/records/sessions/change.ts";
import { repairSession } from "../../src/store/verify/repair.ts";
import { verifySession } from "../../src/store/verify/verify-session.ts";
import type { Store } from "../../src/store/store.ts";
import { describeEngines, execute, newSession, openFresh, owner } from "../helpers/engines.ts";
import { callsOf, PRICED_CALL } from "../helpers/sessions/model-calls.ts";

const UNKNOWN: CallRecord = {
  ...NO_COUNTS,
  model: "openai:gpt-test",
  price_micros: null,
  price_table: null,
  ended: "stopped",
};

async function stored(store: Store, calls: readonly CallRecord[], n = 0) {
  const { id } = await newSession(store);
  const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
  const numbered = calls.map((call, index) => ({ ...call, call: index + 1 }));
  await store.write(storeCallsAlone, { fence, n, calls: numbered });
  return { id, fence, numbered };
}

const usage = (store: Store, id: string) => store.read((tx) => usageOfSession(tx, id), null);

describeEngines("requests of models", (engine) => {
  it("[COST-1] [COST-5] have sums in which the unknown is null, and never 0", async () => {
    const store = await openFresh(engine);
    const { id: none } = await newSession(store);
    expect(await usage(store, none)).toEqual(NO_USAGE);
    const { id: unknown } = await stored(store, [UNKNOWN]);
    expect(await usage(store, unknown)).toEqual({
      ...NO_COUNTS,
      calls: 1,
      unpriced: 1,
      cost_micros: null,
    });
    const { id } = await stored(store, [UNKNOWN, PRICED_CALL, PRICED_CALL]);
    expect(await usage(store, id)).toEqual({
      calls: 3,
      unpriced: 1,
      input: 2000,
      cache_read: 1200,
      cache_write_5m: 200,
      cache_write_1h: 0,
      output: 100,
      reasoning: 40,
      cost_micros: 2468,
    });
    const { tree, models, exchange } = await store.read(readTreeUsage, { id });
    expect(tree).toEqual(await usage(store, id));
    expect(exchange).toBeNull();
    expect(models.map(({ model, calls }) => [model, calls])).toEqual([
      [PRICED_CALL.model, 2],
      [UNKNOWN.model, 1],
    ]);
  });

  it("[COST-6] are stored and counted once, however often their write is made", async () => {
    const store = await openFresh(engine);
    const { id, fence, numbered } = await stored(store, [PRICED_CALL]);
    await store.write(storeCallsAlone, { fence, n: 0, calls: numbered });
    const more = [...numbered, { ...PRICED_CALL, call: 2 }];
    await store.write(storeCallsAlone, { fence, n: 0, calls: more });
    expect(await callsOf(store, id)).toHaveLength(2);
    expect(await usage(store, id)).toMatchObject({ calls: 2, cost_micros: 2468 });
  });

  it("[COST-7] move with their session, and go with it", async () => {
    const store = await openFresh(engine);
    const { id } = await stored(store, [UNKNOWN, PRICED_CALL]);
    const tree = await store.read(readSessionTree, { id });
    const text = [...exportText(tree, "2026-01-01T00:00:00.000Z")].join("");
    const there = await openFresh(engine);
    await importTree(there, parseExport(text));
    expect(await there.read(readSessionTree, { id })).toEqual(tree);
    expect(await usage(there, id)).toEqual(await usage(store, id));
    const copy = withNewIds(parseExport(text));
    await importTree(store, copy);
    expect(await usage(store, copy.session.id)).toEqual(await usage(store, id));
    expect((await verifySession(store, copy.session.id)).findings).toEqual([]);
    await store.write(endSession, { id });
    await store.write(deleteSessionTree, { id });
    expect(await callsOf(store, id)).toEqual([]);
    expect(await usage(store, id)).toEqual(NO_USAGE);
  });

  it("[COST-21] are refused in an export if their sums could not be read", async () => {
    const store = await openFresh(engine);
    const { id } = await stored(store, [PRICED_CALL, PRICED_CALL]);
    const tree = await store.read(readSessionTree, { id });
    const importing = (change: object) => {
      const calls = (tree.session.model_calls ?? []).map((call) => ({ ...call, ...change }));
      const session = { ...tree.session, model_calls: calls };
      const text = [...exportText({ ...tree, session }, "2026-01-01T00:00:00.000Z")].join("");
      return parseExport(text);
    };
    const refused = (pointer: string) =>
      expect.objectContaining({
        code: "export_invalid",
        faults: [expect.objectContaining({ pointer })],
      });
    expect(() => importing({ price_micros: Number.MAX_SAFE_INTEGER })).toThrow(
      refused("/session/model_calls"),
    );
    expect(() => importing({ price_micros: 6e14 })).toThrow(refused("/session/model_calls"));
    expect(() => importing({ input: 1_000_000_001 })).toThrow(
      refused("/session/model_calls/0/input"),
    );
    const most = importing({ price_micros: 5e14, input: 1_000_000_000 });
    await importTree(await openFresh(engine), most);
  });

  it("[COST-7] have sums that `verify` compares and `repair` corrects", async () => {
    const store = await openFresh(engine);
    const { id } = await stored(store, [UNKNOWN, PRICED_CALL]);
    await store.write(endSession, { id });
    const before = await usage(store, id);
    await execute(
      store,
      "UPDATE model_usage SET cost_micros = 1, calls = 7 WHERE session_id = ?",
      id,
    );
    const { findings } = await verifySession(store, id);
    expect(findings.map(({ kind }) => kind)).toEqual(["usage", "usage"]);
    const hold = () => Promise.reject(new Error("an ended session needs no lease"));
    await repairSession({ store, session_id: id, hold });
    expect(await usage(store, id)).toEqual(before);
    expect((await verifySession(store, id)).findings).toEqual([]);
  });
});
