import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { thisProcess } from "../../../src/store/records/leases/this-process.ts";
import { rewriteMirror } from "../../../src/store/verify/repair.ts";
import { takeLease } from "../../../src/store/records/leases/lease.ts";
import { listExchanges } from "../../../src/store/records/exchanges/read.ts";
import { beginExchange } from "../../../src/store/records/messages/begin-exchange.ts";
import { readPending } from "../../../src/store/records/messages/read.ts";
import { endSession } from "../../../src/store/records/sessions/change.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import {
  answer,
  openBench,
  fieldsFromCheckpoints,
  swap,
  benchWithTwoExchanges,
} from "../../helpers/sessions/bench.ts";
import { testSize } from "../../helpers/size.ts";

describe("repair", () => {
  it("[PROOF-5] changes nothing if nothing is wrong, not even the lease's epoch", async () => {
    const bench = await benchWithTwoExchanges();
    const before = await bench.dump();
    expect(await bench.repair()).toEqual({
      findings: [],
      left: [],
      rows: { removed: 0, added: 0, changed: 0, moved: 0 },
    });
    expect(await bench.dump()).toEqual(before);
  });

  it("[PROOF-5] [PROOF-28] leaves correct rows in place, and counts what it did", async () => {
    const bench = await benchWithTwoExchanges();
    const before = await bench.dump();
    await bench.plant("DELETE FROM messages WHERE session_id = :id AND seq IN (2, 5)");
    await bench.plant("UPDATE messages SET content = 'x' WHERE session_id = :id AND seq = 6");
    await bench.plant("INSERT INTO messages (session_id, seq, role) VALUES (:id, 8, 'system')");
    const { rows } = await bench.repair();
    expect(rows).toEqual({ removed: 1, added: 2, changed: 1, moved: 0 });
    const after = await bench.dump();
    expect(fieldsFromCheckpoints(after)).toEqual(fieldsFromCheckpoints(before));
    expect(after.rows.filter(({ seq }) => seq !== 2 && seq !== 5)).toEqual(
      before.rows.filter(({ seq }) => seq !== 2 && seq !== 5),
    );
  });

  it("[PROOF-5] [PROOF-28] moves rows, and the clear mark with them, if a row is missing between them", async () => {
    const bench = await openBench();
    await bench.append("one");
    await bench.handOver();
    await bench.put(answer("first", [1, 1]));
    await bench.append("more");
    await bench.handOver();
    await bench.append("archived unseen");
    await bench.freshThread(true);
    await bench.append("two");
    await bench.handOver();
    await bench.put(answer("second", [2, 2]));
    const before = await bench.dump();
    // the positions closed up, as a careless hand would leave them
    await bench.plant("DELETE FROM messages WHERE session_id = :id AND seq = 2");
    for (const seq of [3, 4, 5, 6]) {
      await bench.plant(
        "UPDATE messages SET seq = seq - 1 WHERE session_id = :id AND seq = ?",
        seq,
      );
    }
    await bench.plant("UPDATE sessions SET last_seq = 5, cleared_seq = 3 WHERE id = :id");
    expect((await bench.repair()).rows).toEqual({ removed: 0, added: 1, changed: 0, moved: 4 });
    expect(fieldsFromCheckpoints(await bench.dump())).toEqual(fieldsFromCheckpoints(before));
  });

  it("[RECORD-11] moves what records of exchanges name with the rows", async () => {
    const bench = await openBench();
    await bench.exchange("one");
    await bench.exchange("two");
    await bench.exchange("three");
    const reference = bench.id;
    const before = (await bench.store.read(listExchanges, { reference, limit: 9 })).map(positions);
    expect(before).toEqual(["5 to 6", "3 to 4", "1 to 2"]);
    for (const seq of [6, 5, 4, 3]) {
      const move = "UPDATE messages SET seq = seq + 1 WHERE session_id = :id AND seq = ?";
      await bench.plant(move, seq);
    }
    await bench.plant(
      "INSERT INTO messages (session_id, seq, role, checkpointed, ts) VALUES (:id, 3, 'system', 1, '2026-01-01T00:00:00.000Z')",
    );
    await bench.plant("UPDATE sessions SET last_seq = 7 WHERE id = :id");
    await bench.plant(
      "UPDATE exchanges SET first_seq = first_seq + 1, last_seq = last_seq + 1 WHERE session_id = :id AND n > 1",
    );
    expect(await bench.kinds()).toEqual(["extra", "last_seq"]);
    await bench.repair();
    expect(await bench.kinds()).toEqual([]);
    const moved = await bench.store.read(listExchanges, { reference, limit: 9 });
    expect(moved.map(positions)).toEqual(before);
    await bench.plant("DELETE FROM messages WHERE session_id = :id AND seq IN (3, 6)");
    await bench.repair();
    const kept = await bench.store.read(listExchanges, { reference, limit: 9 });
    expect(kept).toEqual(moved);
  });

  it("[PROOF-26] hides what was cleared and nothing else, in whatever order the rows were put", async () => {
    const bench = await openBench();
    await bench.exchange("one");
    await bench.exchange("two");
    await bench.freshThread(true);
    await bench.exchange("three");
    const right = fieldsFromCheckpoints(await bench.dump());
    const order = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { minLength: 6, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(order, async (seqs) => {
        fc.pre(!isOtherRightOrder(seqs));
        await bench.plant("UPDATE messages SET seq = seq + 100 WHERE session_id = :id");
        for (const [index, seq] of seqs.entries()) {
          const change = "UPDATE messages SET seq = ? WHERE session_id = :id AND seq = ?";
          await bench.plant(change, seq, 101 + index);
        }
        await bench.repair();
        expect(fieldsFromCheckpoints(await bench.dump())).toEqual(right);
      }),
      {
        numRuns: testSize("repair"),
        // each run repairs what the one before left, so a shrunk order would prove nothing
        endOnFailure: true,
        examples: [[[99, 2, 3, 4, 5, 6]], [[1, 99, 3, 4, 5, 6]], [[1, 2, 3, 99, 5, 6]]],
      },
    );
  });

  it("[PROOF-5] puts a message that was appended meanwhile back before the user's next one", async () => {
    const bench = await openBench();
    await bench.append("question");
    await bench.handOver();
    await bench.append("meanwhile");
    await bench.append("meanwhile too");
    await bench.put(answer("the answer", [10, 1]));
    await bench.handOver();
    const before = await bench.dump();
    await bench.plant("DELETE FROM messages WHERE session_id = :id AND seq = 2");
    expect((await bench.repair()).rows).toMatchObject({ added: 1, moved: 0 });
    expect(fieldsFromCheckpoints(await bench.dump())).toEqual(fieldsFromCheckpoints(before));
  });

  it("[PROOF-6] never loses a pending message: content, id, key and time stay, and it reaches the agent", async () => {
    const bench = await benchWithTwoExchanges();
    await bench.plant(
      "UPDATE messages SET idempotency_key = 'k' WHERE session_id = :id AND seq = 7",
    );
    await bench.append("and another");
    const waiting = (await bench.dump()).rows.slice(6);
    await bench.plant("DELETE FROM messages WHERE session_id = :id AND seq < 7");
    await bench.plant("UPDATE messages SET seq = seq - 6 WHERE session_id = :id AND seq = 7");
    await bench.plant(
      "UPDATE messages SET seq = seq - 6, checkpointed = 1 WHERE session_id = :id AND seq = 8",
    );
    await bench.plant("UPDATE sessions SET last_seq = 2, title = NULL WHERE id = :id");
    await bench.repair();
    expect(await bench.kinds()).toEqual([]);
    const { rows } = await bench.dump();
    const found = rows.filter(({ checkpointed }) => checkpointed === 0);
    expect(found.map(({ seq: _, ...row }) => row)).toEqual(
      waiting.map(({ seq: _, ...row }) => row),
    );
    const pending = await bench.store.read(readPending, { session_id: bench.id });
    expect(pending.map(({ content }) => content)).toEqual(["and this one waits", "and another"]);
  });

  it("[PROOF-10] is refused while an exchange is running, and then changes nothing", async () => {
    const bench = await benchWithTwoExchanges();
    const owner = { ...thisProcess("reprise"), host: "elsewhere" };
    await bench.store.write(takeLease, { session_id: bench.id, owner, life_ms: 60_000 });
    await expect(bench.repair()).rejects.toMatchObject({ code: "session_busy" });
    await bench.plant("DELETE FROM messages WHERE session_id = :id AND seq = 2");
    const before = await bench.dump();
    await expect(bench.repair()).rejects.toMatchObject({ code: "session_busy" });
    expect(await bench.dump()).toEqual(before);
  });

  it("[PROOF-10] repairs what a killed process held, and leaves it interrupted", async () => {
    const bench = await benchWithTwoExchanges();
    const session_id = bench.id;
    const owner = { ...thisProcess("reprise"), pid: 2 ** 22 + 1 };
    const fence = await bench.store.write(takeLease, { session_id, owner, life_ms: 60_000 });
    await bench.store.write(beginExchange, {
      fence,
      content: "cut short",
      model: "demo",
      persona_name: "assistant",
    });
    await bench.plant("DELETE FROM messages WHERE session_id = :id AND seq = 2");
    await bench.repair();
    expect(await bench.kinds()).toEqual([]);
    expect(await bench.store.read(readSession, { id: session_id })).toMatchObject({
      activity: "interrupted",
      last_seq: 8,
    });
  });

  it("[PROOF-10] [PROOF-29] repairs an ended session, which stays ended", async () => {
    const bench = await benchWithTwoExchanges();
    const before = await bench.dump();
    await bench.store.write(endSession, { id: bench.id });
    await swap(bench, 2, 6);
    expect((await bench.repair()).findings).not.toEqual([]);
    expect(await bench.kinds()).toEqual([]);
    expect((await bench.dump()).session).toMatchObject({ state: "ended" });
    expect(fieldsFromCheckpoints(await bench.dump()).rows).toEqual(
      fieldsFromCheckpoints(before).rows,
    );
  });

  it("[PROOF-5] changes nothing if the mirror has changed since it was compared", async () => {
    const bench = await benchWithTwoExchanges();
    await bench.store.write(endSession, { id: bench.id });
    const { state, expected } = await verifySession(bench.store, bench.id);
    const change = {
      session_id: bench.id,
      fence: null,
      version: "another",
      remove: state.rows.map(({ seq }) => seq),
      insert: [],
      columns: { ...expected.counters, last_seq: 0, root_session_id: null, ended_at: null },
      records: [],
      usage: state.record.usage.expected,
    };
    const before = await bench.dump();
    expect(await bench.store.write(rewriteMirror, change)).toBe("stale");
    expect(await bench.dump()).toEqual(before);
  });

  it("[STORE-18] [STORE-55] knows by how much the total exceeds the count, and lowers a wrong total", async () => {
    const bench = await openBench();
    await bench.append("x".repeat(400));
    await bench.handOver();
    await bench.put(answer("short", [3, 1]));
    const before = await bench.dump();
    expect(before.session).toMatchObject({ total_input_tokens: 100, input_tokens_ahead: 97 });
    expect(await bench.kinds()).toEqual([]);
    for (const damage of ["total_input_tokens = 40", "input_tokens_ahead = 0"]) {
      await bench.plant("UPDATE sessions SET total_input_tokens = 100, input_tokens_ahead = 97");
      await bench.plant(`UPDATE sessions SET ${damage} WHERE id = :id`);
      expect(await bench.kinds()).toEqual(["totals"]);
      await bench.repair();
      expect((await bench.dump()).session).toMatchObject({
        total_input_tokens: 3,
        input_tokens_ahead: 0,
      });
      expect(await bench.kinds()).toEqual([]);
    }
  });

  it("[PROOF-6] loses no message that is appended while it runs", async () => {
    const bench = await benchWithTwoExchanges();
    await bench.plant("DELETE FROM messages WHERE session_id = :id AND seq = 2");
    const appended = Array.from({ length: 20 }, (_, index) => `meanwhile ${index}`);
    const [repair] = await Promise.all([bench.repair(), ...appended.map(bench.append)]);
    expect(repair.findings.map(({ kind }) => kind)).toContain("missing");
    expect(await bench.kinds()).toEqual([]);
    const pending = await bench.store.read(readPending, { session_id: bench.id });
    const [first, ...others] = pending.map(({ content }) => content);
    expect(first).toBe("and this one waits");
    // side by side they take their turn as it comes
    expect(others.sort()).toEqual(appended.toSorted());
  });
});

function positions(record: { first_seq: number | null; last_seq: number | null }): string {
  return `${record.first_seq} to ${record.last_seq}`;
}

/**
 * Positions of user and assistant in turn that are not theirs and yet right: a user's message may come
 * before the answers to earlier ones, as if it had been appended meanwhile.
 */
function isOtherRightOrder(seqs: readonly number[]): boolean {
  const isAscending = seqs.every((seq, index) => index === 0 || seq > (seqs[index - 1] ?? 0));
  const isRight = seqs.every((seq, index) =>
    seqs
      .slice(0, index)
      .every((earlier, other) => seq > earlier || (index % 2 === 0 && other % 2 === 1)),
  );
  return isRight && !isAscending;
}
