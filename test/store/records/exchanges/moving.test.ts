import { expect, it } from "vitest";

import { isRepriseError } from "../../../../src/core/errors.ts";
import { listExchanges } from "../../../../src/store/records/exchanges/read.ts";
import { releaseLease, takeLease } from "../../../../src/store/records/leases/lease.ts";
import { beginExchange } from "../../../../src/store/records/messages/begin-exchange.ts";
import { checksumOf, exportText } from "../../../../src/store/portable/export-text.ts";
import type { SessionTree } from "../../../../src/store/portable/export-schema.ts";
import { importTree, withNewIds } from "../../../../src/store/portable/import-tree.ts";
import { parseExport } from "../../../../src/store/portable/parse.ts";
import { readSessionTree } from "../../../../src/store/portable/read-tree.ts";
import { deleteSessionTree } from "../../../../src/store/records/sessions/delete-tree.ts";
import type { Store } from "../../../../src/store/store.ts";
import { withdrawQueued } from "../../../../src/store/records/exchanges/change.ts";
import { makeReady } from "../../../../src/store/records/exchanges/revive.ts";
import { finishExchange } from "../../../../src/store/checkpoints/finish.ts";
import { verifySession } from "../../../../src/store/verify/verify-session.ts";
import {
  describeEngines,
  execute,
  newSession,
  openFresh,
  owner,
} from "../../../helpers/engines.ts";
import { claimNext, queue, readyOf } from "../../../helpers/queue.ts";

const WITH = { model: "demo:echo", persona_name: "assistant" };

/** A session with a finished, a failed and an interrupted exchange. */
async function threeExchanges(store: Store): Promise<string> {
  const { id } = await newSession(store);
  const failure = { code: "model_failed", sentence: "The model failed." };
  for (const end of [{ finished: true }, { finished: false, failure }, { finished: false }]) {
    const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    await store.write(beginExchange, { fence, content: "a question", ...WITH });
    await store.write(releaseLease, { fence, ...end });
  }
  return id;
}

function recordsOf(store: Store, reference: string) {
  return store.read(listExchanges, { reference, limit: 10 });
}

/** Where an export is refused. */
function faultsOf(text: string): string[] {
  try {
    parseExport(text);
    return [];
  } catch (error) {
    return isRepriseError(error, "export_invalid")
      ? error.faults.map(({ pointer }) => pointer)
      : [];
  }
}

function textOf(tree: SessionTree): string {
  return [...exportText(tree, "2026-01-01T00:00:00.000Z")].join("");
}

describeEngines("records that move", (engine) => {
  it("[RECORD-8] are those of the export, are continued, and go with their session", async () => {
    const store = await openFresh(engine);
    const id = await threeExchanges(store);
    const before = await recordsOf(store, id);
    const tree = await store.read(readSessionTree, { id });
    await store.write(deleteSessionTree, { id });
    const count = store.read(({ db }) => db.selectFrom("exchanges").select("n").execute(), null);
    expect(await count).toEqual([]);

    await importTree(store, parseExport(textOf(tree)));
    expect(await recordsOf(store, id)).toEqual(before);
    const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    const begun = await store.write(beginExchange, { fence, content: null, ...WITH });
    expect(begun.record).toMatchObject({ n: 3, id: before[0]?.id });

    const copy = withNewIds(tree);
    await importTree(store, copy);
    const copied = await recordsOf(store, copy.session.id);
    expect(copied.map(({ n, state }) => [n, state])).toEqual(
      before.map(({ n, state }) => [n, state]),
    );
    const ids = new Set([...before, ...copied].map((record) => record.id));
    expect(ids.size).toBe(6);
  });

  it("[RECORD-8] cannot say what is impossible, and an export may have none", async () => {
    const store = await openFresh(engine);
    const id = await threeExchanges(store);
    const tree = await store.read(readSessionTree, { id });
    const [first, ...rest] = tree.session.exchanges ?? [];
    if (first === undefined) {
      throw new Error("the session has records");
    }
    const changes: Record<string, object> = {
      n: { n: 4 },
      ended_at: { ended_at: null },
      state: { state: "waiting", ended_at: null },
      begun_at: { begun_at: null },
      thread_suffix: { thread_suffix: 1 },
      first_seq: { first_seq: 5 },
      last_seq: { last_seq: 4 },
      id: { id: rest[0]?.id ?? "" },
      revision: { revision: Number.MAX_SAFE_INTEGER },
      parent_n: { parent_n: 1 },
      input_before: { input_before: Number.MAX_SAFE_INTEGER },
      output_before: { output_before: -1 },
      input_tokens: { input_tokens: -5 },
      output_tokens: { output_tokens: Number.MAX_SAFE_INTEGER },
      error_code: { error_code: "model_failed", error_sentence: "The model failed." },
      error_sentence: { error_sentence: "The model failed." },
    };
    for (const [field, change] of Object.entries(changes)) {
      const exchanges = [{ ...first, ...change }, ...rest];
      const wrong = textOf({ ...tree, session: { ...tree.session, exchanges } });
      const at = { state: 2, id: 1 }[field] ?? 0;
      const pointer = `/session/exchanges/${at}/${field}`;
      expect(faultsOf(wrong), field).toContain(pointer);
      await store.write(
        ({ db }) =>
          db
            .updateTable("exchanges")
            .set({ ...change })
            .where("session_id", "=", id)
            .where("n", "=", 1)
            .execute(),
        null,
      );
      const { findings } = await verifySession(store, id);
      expect(
        findings.map(({ kind }) => kind),
        field,
      ).toContain("exchange");
      const right = Object.fromEntries(
        Object.keys(first).map((key) => [key, Reflect.get(first, key)]),
      );
      const n = field === "n" ? 4 : 1;
      await store.write(
        ({ db }) =>
          db
            .updateTable("exchanges")
            .set({ ...right, n: 1 })
            .where("session_id", "=", id)
            .where("n", "=", n)
            .execute(),
        null,
      );
      expect((await verifySession(store, id)).findings, field).toEqual([]);
    }
    const { exchanges: _, exchange_count: _count, ...session } = tree.session;
    for (const wrong of [
      { ...session, exchange_count: 1 },
      { ...tree.session, exchange_count: 2 ** 52 },
    ]) {
      expect(faultsOf(textOf({ ...tree, session: wrong }))).toContain("/session/exchange_count");
    }
    await store.write(deleteSessionTree, { id });
    await importTree(store, parseExport(textOf({ ...tree, session })));
    expect(await recordsOf(store, id)).toEqual([]);
    expect(checksumOf(await store.read(readSessionTree, { id }))).toBe(
      checksumOf({ ...tree, session }),
    );
  });

  it("[QUEUE-23] queued exchanges move too, and are run in the new database", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await queue(store, id, "given back", { idempotency_key: "k" });
    const fence = await claimNext(store, id);
    await store.write(releaseLease, { fence, finished: false, end: "queued" });
    await queue(store, id, "waits \u202e\u001b[31m");
    const before = await recordsOf(store, id);
    const tree = await store.read(readSessionTree, { id });
    expect(textOf(tree)).toContain("waits \u202e\\u001b[31m");
    await store.write(deleteSessionTree, { id });
    expect(await readyOf(store)).toEqual([]);
    await importTree(store, parseExport(textOf(tree)));
    expect(await recordsOf(store, id)).toEqual(before);
    expect(await queue(store, id, "given back", { idempotency_key: "k" })).toEqual(before[1]);
    expect(checksumOf(await store.read(readSessionTree, { id }))).toBe(checksumOf(tree));

    const copy = withNewIds(tree);
    await importTree(store, copy);
    const copied = copy.session.id;
    expect(await queue(store, copied, "given back", { idempotency_key: "k" })).toMatchObject({
      n: 3,
    });
    const ready = await readyOf(store);
    expect(ready.map(({ n, content }) => [n, content])).toEqual([
      [1, null],
      [1, null],
    ]);
    for (const each of [id, copied]) {
      await store.write(finishExchange, {
        fence: await claimNext(store, each),
        thread_id: `${each}:0`,
      });
      expect((await verifySession(store, each)).findings).toEqual([]);
    }
    expect((await readyOf(store)).map(({ content }) => content)).toEqual(
      Array.from({ length: 2 }, () => "waits \u202e\u001b[31m"),
    );
  });

  it("[QUEUE-24] verify and imports find what cannot be true of them", async () => {
    const store = await openFresh(engine);
    const { id } = await newSession(store);
    await queue(store, id, "waits");
    const tree = await store.read(readSessionTree, { id });
    const [record] = tree.session.exchanges ?? [];
    const impossible: Record<string, object> = {
      content: { begun_at: record?.queued_at ?? null },
      queued_at: { queued_at: "2026-02-31T00:00:00.000Z" },
    };
    const set = (values: object) =>
      store.write(
        ({ db }) => db.updateTable("exchanges").set(values).where("session_id", "=", id).execute(),
        null,
      );
    const kinds = async () => (await verifySession(store, id)).findings.map(({ kind }) => kind);
    for (const [field, change] of Object.entries(impossible)) {
      const exchanges = [{ ...record!, ...change }];
      const wrong = textOf({ ...tree, session: { ...tree.session, exchanges } });
      expect(faultsOf(wrong), field).toContain(`/session/exchanges/0/${field}`);
      await set(change);
      expect(await kinds(), field).toEqual(["exchange"]);
      await set({ begun_at: null, queued_at: record?.queued_at ?? null });
    }
    const unknown = [{ ...record!, authenticated: false } as const];
    const from = textOf({ ...tree, session: { ...tree.session, exchanges: unknown } });
    expect(faultsOf(from)).toContain("/session/exchanges/0/content");
    expect(await kinds()).toEqual([]);

    const ready = (value: string) => execute(store, `UPDATE sessions SET ready_at = ${value}`);
    await ready("NULL");
    expect(await kinds()).toEqual(["exchange"]);
    await store.write(makeReady, { id });
    expect(await kinds()).toEqual([]);
    await store.write(withdrawQueued, { reference: id, n: 1 });
    await ready("'2026-01-01T00:00:00.000Z'");
    expect(await kinds()).toEqual(["exchange"]);
  });
});
