import { type Bench, swap } from "./bench.ts";

/** Whether verify can find it: PROOF-24 documents what it cannot know. */
export type Expected = "found" | "undecidable";

export interface Damage {
  readonly name: string;
  readonly expected: Expected;
  /** Counters that repair sets although they fitted before: PROOF-6 keeps a message more. */
  readonly counts?: readonly string[];
  /** A field that agreed with the right value of the damaged one, and is repaired with it. */
  readonly goesWith?: string;
  plant(target: Target): Promise<void>;
}

/** A session of two threads, the first one cleared, and what is in which row. */
export interface Target {
  readonly bench: Bench;
  readonly random: () => number;
  /** Positions of the rows that a checkpoint holds, and of the one that waits. */
  readonly held: readonly number[];
  readonly waiting: number;
  /** The right clear mark. */
  readonly cleared: number;
}

const THREAD = "(SELECT id FROM threads WHERE thread_id = ':id:1')";
const HEAD = `(SELECT max(id) FROM checkpoints WHERE thread = ${THREAD} AND ns = '')`;
const LIST = `(SELECT max(id) FROM checkpoint_lists WHERE thread = ${THREAD})`;
const TASK_WRITES = `INSERT INTO checkpoint_writes (thread, ns, checkpoint_id, task_id, writes)
  SELECT thread, ns, checkpoint_id, 'task', ? FROM checkpoints WHERE id = ${HEAD}`;

export const DAMAGES: readonly Damage[] = [
  row("content", "content = content || '.'"),
  row("role", "role = CASE role WHEN 'user' THEN 'system' ELSE 'user' END"),
  row("tool calls", `tool_calls = '[{"id":"x"}]'`),
  row("status of a call", "status = 'denied'"),
  row("tokens", "token_count = token_count + 1"),
  row("summary flag", "is_summary = 1 - is_summary"),
  row("archived flag", "archived = 1 - archived"),
  row("pending flag", "checkpointed = 1 - checkpointed"),
  sql("row: id of an answer", ({ random }) => [
    "UPDATE messages SET message_id = 'another' WHERE session_id = :id AND seq = ?",
    pick([2, 4, 6], random),
  ]),
  {
    // nothing shows whose row it is: it waits again, beside the message of the checkpoint
    ...sql("row: id of a user's message", ({ random }) => [
      "UPDATE messages SET message_id = 'another' WHERE session_id = :id AND seq = ?",
      pick([1, 3, 5], random),
    ]),
    counts: ["last_seq", "total_input_tokens", "cleared_seq"],
  },
  sql("row: position", ({ random, held }) => [
    "UPDATE messages SET seq = 99 WHERE session_id = :id AND seq = ?",
    pick(held, random),
  ]),
  { name: "rows: positions exchanged", expected: "found", plant: exchangePositions },
  row("time that is none", "ts = 'noon'"),
  { ...row("another time", "ts = '2026-01-01T00:00:00.000Z'"), expected: "undecidable" },
  sql("deleted row", ({ random, held }) => [
    "DELETE FROM messages WHERE session_id = :id AND seq = ?",
    pick(held, random),
  ]),
  sql("extra row", ({ waiting }) => [
    "INSERT INTO messages (session_id, seq, role, checkpointed) VALUES (:id, ?, 'assistant', 1)",
    waiting + 1,
  ]),
  {
    ...sql("waiting text", ({ waiting }) => [
      "UPDATE messages SET content = content || '.' WHERE session_id = :id AND seq = ?",
      waiting,
    ]),
    expected: "undecidable",
  },
  session("last_seq", "last_seq = last_seq + 1"),
  session("input total", "total_input_tokens = total_input_tokens + 1"),
  session("output total", "total_output_tokens = total_output_tokens + 1"),
  sql("clear mark", ({ random, cleared, waiting }) => {
    const others = Array.from({ length: waiting + 2 }, (_, mark) => mark);
    const mark = pick(
      others.filter((other) => other !== cleared),
      random,
    );
    return ["UPDATE sessions SET cleared_seq = ? WHERE id = :id", mark];
  }),
  session("title", "title = 'another'"),
  session("no title", "title = NULL"),
  session("root", "root_session_id = 'another'"),
  session("time of the last message", "last_message_at = '2001-01-01T00:00:00.000Z'"),
  session("last message in the future", "last_message_at = '2999-01-01T00:00:00.000Z'"),
  session("suffix too low", "thread_suffix = 0"),
  { ...session("suffix too high", "thread_suffix = thread_suffix + 1"), expected: "undecidable" },
  session("depth", "depth = 2"),
  session("its own parent", "parent_session_id = id"),
  session("call without a parent", "parent_call_id = 'call_1'"),
  session("project key", "project_key = 'x'"),
  session("project key without a folder", "project_key = '0123456789abcdef'"),
  { ...session("end without a time", "state = 'ended'"), goesWith: "ended_at" },
  session("time of an end", "ended_at = '2026-01-01T00:00:00.000Z'"),
  head("head deleted", `DELETE FROM checkpoints WHERE id = ${HEAD}`),
  head("all checkpoints deleted", `DELETE FROM checkpoints WHERE thread = ${THREAD}`),
  head("head in another namespace", `UPDATE checkpoints SET ns = 'x' WHERE id = ${HEAD}`),
  head(
    "head in another thread",
    `UPDATE checkpoints SET thread = (SELECT id FROM threads WHERE thread_id = ':id:0') WHERE id = ${HEAD}`,
  ),
  { name: "head shortened", expected: "found", plant: shorten },
  head("message named twice", moveItem(0, 1)),
  head("another message named", moveItem(2, 1)),
  head("item deleted", `DELETE FROM checkpoint_list_items WHERE list = ${LIST} AND position = 1`),
  head(
    "broken list base",
    `UPDATE checkpoint_lists SET base = 999999, base_length = 1 WHERE id = ${LIST}`,
  ),
  head("shape of nothing", `UPDATE checkpoints SET shape = 999999 WHERE id = ${HEAD}`),
  head(
    "shape cut",
    `UPDATE checkpoint_bodies SET body = substr(body, 1, 9) WHERE id = (SELECT shape FROM checkpoints WHERE id = ${HEAD})`,
  ),
  head("no versions", `UPDATE checkpoints SET versions = '' WHERE id = ${HEAD}`),
  head("a version more", `UPDATE checkpoints SET versions = versions || ',9' WHERE id = ${HEAD}`),
  head("another version", `UPDATE checkpoints SET versions = '9' || versions WHERE id = ${HEAD}`),
  head("metadata cut", `UPDATE checkpoints SET metadata = '[{' WHERE id = ${HEAD}`),
  head("channels empty", `UPDATE checkpoints SET channels = '{}' WHERE id = ${HEAD}`),
  head("message text", `UPDATE checkpoint_bodies SET body = '["x",{}]' WHERE id = ${itemAt(1)}`),
  head("message deleted", `DELETE FROM checkpoint_bodies WHERE id = ${itemAt(1)}`),
  sql("writes of nothing", () => [TASK_WRITES, '[[0,"messages",{"b":999999}]]']),
  sql("writes that are none", () => [TASK_WRITES, "[7]"]),
];

type Statement = readonly [sql: string, ...values: (string | number)[]];

function sql(name: string, statement: (target: Target) => Statement): Damage {
  return {
    name,
    expected: "found",
    plant: ({ bench, ...target }) => {
      const [text, ...values] = statement({ bench, ...target });
      return bench.plant(inThreads(bench, text), ...values);
    },
  };
}

/** In the names of threads, `:id` is not a separate text. */
function inThreads({ id }: Bench, text: string): string {
  return text.replaceAll("':id:", `'${id}:`);
}

function row(name: string, change: string): Damage {
  return sql(`row: ${name}`, ({ random, held }) => [
    `UPDATE messages SET ${change} WHERE session_id = :id AND seq = ?`,
    pick(held, random),
  ]);
}

function session(name: string, change: string): Damage {
  return sql(`session: ${name}`, () => [`UPDATE sessions SET ${change} WHERE id = :id`]);
}

function head(name: string, statement: string): Damage {
  return sql(`checkpoint: ${name}`, () => [statement]);
}

function itemAt(position: number): string {
  return `(SELECT i.body FROM checkpoint_list_items AS i WHERE i.list = ${LIST} AND i.position = ${position})`;
}

function moveItem(from: number, to: number): string {
  return `UPDATE checkpoint_list_items SET body = ${itemAt(from)} WHERE list = ${LIST} AND position = ${to}`;
}

/** Of one answer that was cleared and one that was not. */
function exchangePositions({ bench, random }: Target): Promise<void> {
  return swap(bench, 2, pick([4, 6], random));
}

async function shorten({ bench, random }: Target): Promise<void> {
  const { store } = bench;
  const { channels } = await store.read(
    ({ db }) =>
      db
        .selectFrom("checkpoints")
        .innerJoin("threads", "threads.id", "thread")
        .select("channels")
        .where("thread_id", "=", `${bench.id}:1`)
        .orderBy("checkpoints.id", "desc")
        .limit(1)
        .executeTakeFirstOrThrow(),
    null,
  );
  const shorter = channels.replace(
    /("messages":\{"l":\[\d+,)(\d+)/,
    (_, before: string, length: string) =>
      `${before}${Number(length) - 1 - Math.floor(random() * 3)}`,
  );
  await bench.plant(
    inThreads(bench, `UPDATE checkpoints SET channels = ? WHERE id = ${HEAD}`),
    shorter,
  );
}

function pick<T>(items: readonly T[], random: () => number): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) {
    throw new Error("nothing to pick from");
  }
  return item;
}
