import { randomUUID } from "node:crypto";

import fc from "fast-check";
import { expect, it } from "vitest";

import {
  answer,
  type Bench,
  type Dump,
  openBench,
  toolRound,
} from "../../helpers/sessions/bench.ts";
import { testSize } from "../../helpers/size.ts";

/*
 * A session of every kind of thread, damaged at random: verify has to say so exactly where the
 * mirror is no longer right, and repair has to make it right without losing what only the mirror
 * holds. What is right has a separate definition here, slow and simple.
 */

type Column = "content" | "role" | "tool_calls" | "token_count" | "is_summary";
type Counter = "last_seq" | "total_input_tokens" | "total_output_tokens";

type Damage =
  | { readonly kind: "delete"; readonly at: number }
  | { readonly kind: "swap"; readonly at: number; readonly with: number }
  | { readonly kind: "edit"; readonly at: number; readonly column: Column }
  | { readonly kind: "flag"; readonly at: number; readonly flag: "archived" | "checkpointed" }
  | { readonly kind: "insert"; readonly after: number; readonly role: string; readonly by: 0 | 1 }
  | { readonly kind: "gap"; readonly at: number }
  | { readonly kind: "rename"; readonly at: number }
  | { readonly kind: "touch"; readonly at: number }
  | { readonly kind: "counter"; readonly counter: Counter; readonly by: number };

const at = fc.nat({ max: 20 });
const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.record({ kind: fc.constant("delete" as const), at }),
  fc.record({ kind: fc.constant("swap" as const), at, with: at }),
  fc.record({
    kind: fc.constant("edit" as const),
    at,
    column: fc.constantFrom<Column[]>("content", "role", "tool_calls", "token_count", "is_summary"),
  }),
  fc.record({
    kind: fc.constant("flag" as const),
    at,
    flag: fc.constantFrom("archived" as const, "checkpointed" as const),
  }),
  fc.record({
    kind: fc.constant("insert" as const),
    after: fc.nat({ max: 3 }),
    role: fc.constantFrom("user", "assistant", "tool", "system"),
    by: fc.constantFrom<(0 | 1)[]>(0, 1),
  }),
  fc.record({ kind: fc.constant("gap" as const), at }),
  fc.record({ kind: fc.constant("rename" as const), at }),
  fc.record({ kind: fc.constant("touch" as const), at }),
  fc.record({
    kind: fc.constant("counter" as const),
    counter: fc.constantFrom<Counter[]>("last_seq", "total_input_tokens", "total_output_tokens"),
    by: fc.integer({ min: -3, max: 3 }),
  }),
);

it("[PROOF-4] [PROOF-5] [PROOF-6] finds random damage exactly, repairs it once and loses nothing", async () => {
  const bench = await severalThreads();
  const stored = await bench.dump();
  // both of "meanwhile" were appended before the answer, and the checkpoint has them after it
  const held = [1, 4, 5, 6, 2, 3, 7, 9, 10, 11, 13, 14, 15].flatMap((seq) =>
    stored.rows.slice(seq - 1, seq),
  );
  expect(held.every(({ checkpointed }) => checkpointed === 1)).toBe(true);
  const ownTimes = stored.rows.map(({ ts }) => String(ts));
  const { length } = ownTimes;
  const ofHeads = await headTimes(bench);
  // the clock of a fast machine gives rows and checkpoints the same time, one set back an earlier
  const time = fc.constantFrom(...ofHeads, "2001-01-01T00:00:00.000Z", "2999-01-01T00:00:00.000Z");
  const times = fc.array(time, { minLength: length, maxLength: length });
  let found = 0;
  let harmless = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { maxLength: 8 }), times, async (damages, ts) => {
      const original = atTimes(stored, ts);
      await restore(bench, original);
      for (const one of damages) {
        await plant(bench, one);
      }
      const damaged = await bench.dump();
      const isRight = isRightMirror(damaged, { original, held });
      expect((await bench.kinds()).length === 0).toBe(isRight);
      found += isRight ? 0 : 1;
      harmless += isRight ? 1 : 0;

      const { findings } = await bench.repair();
      expect(findings.length === 0).toBe(isRight);
      const repaired = await bench.dump();
      expect(await bench.kinds()).toEqual([]);
      expect(isRightMirror(repaired, { original, held })).toBe(true);
      expect(onlyHere(repaired, held)).toEqual(onlyHere(damaged, held));
      expect((await bench.repair()).findings).toEqual([]);
      expect(await bench.dump()).toEqual(repaired);
    }),
    {
      numRuns: testSize("repair"),
      examples: [
        // both sides of the property are met, however few runs there are
        [[], ownTimes],
        [[{ kind: "edit", at: 1, column: "content" }], ownTimes],
        // the row before the last one has the time of a checkpoint, and becomes the last one
        [
          [{ kind: "edit", at: length - 1, column: "role" }],
          [...ownTimes.slice(1).fill(ofHeads.at(-1) ?? ""), "2999-01-01T00:00:00.000Z"],
        ],
      ],
    },
  );
  // both sides of the property were met
  expect(found).toBeGreaterThan(0);
  expect(harmless).toBeGreaterThan(0);
});

/** Three threads, one of them archived; tools, a message from meanwhile, one unseen, two pending. */
async function severalThreads(): Promise<Bench> {
  const bench = await openBench();
  await bench.append("one");
  await bench.handOver();
  await bench.append("meanwhile");
  await bench.append("meanwhile too");
  await bench.put(...toolRound("README.md"), answer("first", [10, 1]));
  await bench.handOver();
  await bench.put(answer("second"));
  await bench.append("archived unseen");
  await bench.freshThread(true);
  await bench.exchange("two");
  await bench.freshThread(false);
  await bench.append("three");
  await bench.handOver();
  await bench.append("waits");
  await bench.put(...toolRound("src/main.ts"), answer("third", [30, 3]));
  await bench.append("waits too");
  return bench;
}

/** When the checkpoints of the session were made. */
async function headTimes({ store, id }: Bench): Promise<string[]> {
  const rows = await store.read(
    ({ db }) =>
      db
        .selectFrom("checkpoints")
        .innerJoin("threads", "threads.id", "thread")
        .select("ts")
        .distinct()
        .where("thread_id", "like", `${id}:%`)
        .orderBy("ts")
        .execute(),
    null,
  );
  return rows.map(({ ts }) => ts);
}

/** The same session, its messages stored at other times. */
function atTimes({ rows, session }: Dump, times: readonly string[]): Dump {
  return {
    rows: rows.map((row, index) => ({ ...row, ts: times[index] })),
    session: { ...session, last_message_at: times.at(-1) },
  };
}

async function restore(bench: Bench, { rows, session }: Dump): Promise<void> {
  await bench.plant("DELETE FROM messages WHERE session_id = :id");
  for (const row of rows) {
    const columns = Object.keys(row);
    const values = columns.map((column) => row[column] as string | number | null);
    const places = columns.map(() => "?").join(", ");
    await bench.plant(`INSERT INTO messages (${columns.join(", ")}) VALUES (${places})`, ...values);
  }
  for (const counter of ["last_seq", "cleared_seq", "total_input_tokens", "total_output_tokens"]) {
    await bench.plant(
      `UPDATE sessions SET ${counter} = ? WHERE id = :id`,
      Number(session[counter]),
    );
  }
  for (const text of ["title", "last_message_at"]) {
    await bench.plant(`UPDATE sessions SET ${text} = ? WHERE id = :id`, String(session[text]));
  }
}

/** The first row after the clear mark. */
const FIRST_SHOWN = 9;

const ROW = "WHERE session_id = :id AND seq =";

async function plant(bench: Bench, damage: Damage): Promise<void> {
  const seqs = (await bench.dump()).rows.map(({ seq }) => Number(seq));
  const seqAt = (place: number): number => seqs[place % Math.max(seqs.length, 1)] ?? 0;
  const last = seqs.at(-1) ?? 0;
  switch (damage.kind) {
    case "delete":
      return bench.plant(`DELETE FROM messages ${ROW} ?`, seqAt(damage.at));
    case "swap": {
      const [one, other] = [seqAt(damage.at), seqAt(damage.with)];
      await bench.plant(`UPDATE messages SET seq = 999 ${ROW} ?`, one);
      await bench.plant(`UPDATE messages SET seq = ? ${ROW} ?`, one, other);
      return bench.plant(`UPDATE messages SET seq = ? ${ROW} 999`, one === other ? one : other);
    }
    case "edit":
      return bench.plant(EDITS[damage.column], seqAt(damage.at));
    case "flag":
      if (damage.flag === "archived" && seqAt(damage.at) === FIRST_SHOWN) {
        // with the next one it would look like a whole thread that was cleared
        return;
      }
      return bench.plant(
        `UPDATE messages SET ${damage.flag} = 1 - ${damage.flag} ${ROW} ?`,
        seqAt(damage.at),
      );
    case "insert":
      return bench.plant(
        "INSERT INTO messages (session_id, seq, role, content, checkpointed) VALUES (:id, ?, ?, 'planted', ?)",
        last + 1 + damage.after,
        damage.role,
        damage.by,
      );
    case "gap":
      return bench.plant(`UPDATE messages SET seq = ? ${ROW} ?`, last + 3, seqAt(damage.at));
    case "rename":
      return bench.plant(
        `UPDATE messages SET message_id = ? ${ROW} ?`,
        randomUUID(),
        seqAt(damage.at),
      );
    case "touch":
      // no damage: what checkpoints do not hold
      return bench.plant(
        `UPDATE messages SET ts = '2001-01-01T00:00:00.000Z', idempotency_key = ? ${ROW} ?`,
        randomUUID(),
        seqAt(damage.at),
      );
    case "counter":
      return bench.plant(
        `UPDATE sessions SET ${damage.counter} = ${damage.counter} + ? WHERE id = :id`,
        damage.by,
      );
  }
}

const EDITS: Readonly<Record<Column, string>> = {
  content: `UPDATE messages SET content = content || '.' ${ROW} ?`,
  role: `UPDATE messages SET role = CASE role WHEN 'user' THEN 'system' ELSE 'user' END ${ROW} ?`,
  tool_calls: `UPDATE messages SET tool_calls = '[]' ${ROW} ?`,
  token_count: `UPDATE messages SET token_count = token_count + 1 ${ROW} ?`,
  is_summary: `UPDATE messages SET is_summary = 1 - is_summary ${ROW} ?`,
};

interface Known {
  readonly original: Dump;
  /** Rows that the checkpoints hold, in their order. */
  readonly held: Dump["rows"];
}

const MIRRORED = ["role", "content", "tool_calls", "token_count", "is_summary", "checkpointed"];

function isRightMirror({ rows, session }: Dump, { original, held }: Known): boolean {
  const byId = new Map(rows.map((row) => [row["message_id"], row]));
  const known = new Set(held.map(({ message_id }) => message_id));
  const others = rows.filter(({ message_id }) => !known.has(message_id));
  const estimates = (some: Dump["rows"]): number =>
    some
      .filter(({ checkpointed }) => checkpointed === 0)
      .reduce((sum, { token_count }) => sum + Number(token_count), 0);
  return (
    rows.every(({ seq }, index) => seq === index + 1) &&
    rows.every(
      ({ seq, archived }) => (archived === 1) === Number(seq) <= Number(session["cleared_seq"]),
    ) &&
    session["last_seq"] === rows.length &&
    isLastTime(rows, session["last_message_at"]) &&
    others.every(({ role, checkpointed }) => role === "user" && checkpointed === 0) &&
    held.every((row) =>
      MIRRORED.every((column) => byId.get(row["message_id"])?.[column] === row[column]),
    ) &&
    held.every((row, index) =>
      held.slice(index + 1).every((later) => {
        const [one, other] = [byId.get(row["message_id"]), byId.get(later["message_id"])];
        const mayTurn = row["role"] !== "user" && later["role"] === "user";
        return mayTurn || Number(one?.["seq"]) < Number(other?.["seq"]);
      }),
    ) &&
    session["total_output_tokens"] === original.session["total_output_tokens"] &&
    Number(session["total_input_tokens"]) - estimates(rows) ===
      Number(original.session["total_input_tokens"]) - estimates(original.rows)
  );
}

/** The last row's time, unless it is earlier than the one before: then either may be wrong. */
function isLastTime(rows: Dump["rows"], time: unknown): boolean {
  const [before, last] = rows.slice(-2).map(({ ts }) => String(ts));
  return last === time || String(last) < String(before);
}

/** User messages that no checkpoint holds: what they say, in their order. */
function onlyHere({ rows }: Dump, held: Dump["rows"]): unknown[] {
  const known = new Set(held.map(({ message_id }) => message_id));
  return rows
    .filter(({ message_id, role }) => !known.has(message_id) && role === "user")
    .map(({ seq: _, archived: __, checkpointed: ___, ...row }) => row);
}
