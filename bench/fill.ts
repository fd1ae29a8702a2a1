import { randomUUID } from "node:crypto";

import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { type Selectable, sql } from "kysely";
import { createAgent } from "langchain";
import { z } from "zod";

import { createCheckpointSaver } from "../src/langgraph/saver.ts";
import { threadId } from "../src/core/threads.ts";
import type { CheckpointTable } from "../src/store/tables/checkpoints.ts";
import type { Fence } from "../src/store/records/leases/fence.ts";
import { finishExchange } from "../src/store/checkpoints/finish.ts";
import { takeLease } from "../src/store/records/leases/lease.ts";
import { createSession } from "../src/store/records/sessions/create.ts";
import type { Operation, Store, Tx } from "../src/store/store.ts";
import { type IdMap, mapIds } from "../src/store/portable/map-ids.ts";
import { InstantModel } from "./instant-model.ts";

export interface Filled {
  readonly store: Store;
  readonly ids: readonly string[];
}

const EXCHANGES = 10;
const TOOL_ROUNDS = 4;
/** A question, an answer, and a call and its result for each round. */
const EXCHANGE_MESSAGES = 2 + 2 * TOOL_ROUNDS;
export const MESSAGES_EACH = EXCHANGES * EXCHANGE_MESSAGES;
/** Sessions of one project, however many sessions there are. */
const PROJECT_SESSIONS = 50;

/** Sessions of one transaction: the server gives a statement 30 s. */
const CHUNK = 500;

/**
 * Fills an empty store: one session is talked in as people do, and the others become copies of its
 * rows under other ids, so that each can be read, appended to and resumed like the first.
 */
export async function fillStore(store: Store, sessions: number): Promise<Filled> {
  const template = await talk(store);
  const ids = [template.session];
  while (ids.length < sessions) {
    const chunk = Array.from({ length: Math.min(CHUNK, sessions - ids.length) }, () =>
      randomUUID(),
    );
    await store.write(copyRows, { template, ids: chunk, done: ids.length });
    ids.push(...chunk);
  }
  await store.write(advanceSequences, null);
  return { store, ids };
}

/** The project of a session; those of one project were worked in one after another. */
export function projectOf(session: number): string {
  return `project ${Math.floor(session / PROJECT_SESSIONS)}`;
}

/** The session to copy, and how far apart the ids of its copies have to be. */
interface Template {
  readonly session: string;
  readonly thread: number;
  readonly bodies: number;
  readonly lists: number;
  readonly checkpoints: number;
}

async function talk(store: Store): Promise<Template> {
  const { id } = await store.write(createSession, {});
  let fence: Fence | null = null;
  const saver = createCheckpointSaver({ store, fence: () => fence });
  const model = new InstantModel(answer);
  const agent = createAgent({ model, tools: [look], checkpointer: saver });
  const thread_id = threadId(id, 0);
  const owner = { host: "bench", machine: "bench", pid: 1, command: "bench", since: "" };
  for (let index = 0; index < EXCHANGES; index += 1) {
    fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    const messages = [new HumanMessage(`question ${index}: ${WORDS}`)];
    await agent.invoke({ messages }, { configurable: { thread_id }, durability: "sync" });
    const { pruned } = await store.write(finishExchange, { fence, thread_id });
    saver.forgetPruned(thread_id, pruned);
  }
  return store.read(async ({ db }) => {
    const thread = await db.selectFrom("threads").select("id").executeTakeFirstOrThrow();
    const highest = async (
      table: "checkpoint_bodies" | "checkpoint_lists" | "checkpoints",
    ): Promise<number> => {
      const { id: most } = await db
        .selectFrom(table)
        .select("id")
        .orderBy("id", "desc")
        .executeTakeFirstOrThrow();
      return most;
    };
    return {
      session: id,
      thread: thread.id,
      bodies: await highest("checkpoint_bodies"),
      lists: await highest("checkpoint_lists"),
      checkpoints: await highest("checkpoints"),
    };
  }, null);
}

const WORDS = "lorem ipsum dolor sit amet ".repeat(6);

const look = tool(({ at }) => `result ${at}: ${WORDS}`, {
  name: "look",
  description: "looks",
  schema: z.object({ at: z.number() }),
});

function answer(messages: readonly BaseMessage[]): AIMessage {
  const at = messages.length;
  const asked = messages.findLastIndex(({ type }) => type === "human");
  return at - asked > TOOL_ROUNDS * 2
    ? new AIMessage(`answer ${at}: ${WORDS}`)
    : new AIMessage({
        content: "",
        tool_calls: [{ id: `call-${at}`, name: "look", args: { at } }],
      });
}

interface Copies {
  readonly template: Template;
  readonly ids: readonly string[];
  /** Sessions that are there already: the first of these is the `done`-th copy. */
  readonly done: number;
}

const copyRows: Operation<Copies, void> = async (tx, copies) => {
  const { template, ids, done } = copies;
  const { db } = tx;
  for (let index = 0; index < ids.length; index += 100) {
    const some = ids.slice(index, index + 100);
    const moment = (at: number): string => new Date(1.7e12 + (done + at) * 60_000).toISOString();
    const sessions = some.map((id, at) => ({
      id,
      root_session_id: id,
      title: "question 0",
      model: "demo",
      project_key: projectOf(done + index + at),
      last_seq: MESSAGES_EACH,
      created_at: moment(index + at),
      last_message_at: moment(index + at),
    }));
    await db.insertInto("sessions").values(sessions).execute();
    const threads = some.map((id, at) => ({
      id: template.thread + done + index + at,
      thread_id: threadId(id, 0),
    }));
    await db.insertInto("threads").values(threads).execute();
  }
  await copyMessages(tx, copies);
  await copyBodies(tx, copies);
  await copyCheckpoints(tx, copies);
};

/** As if a hundred sessions were talked in by turns: the rows of an exchange lie side by side. */
async function copyMessages({ db }: Tx, { template, ids }: Copies): Promise<void> {
  for (let index = 0; index < ids.length; index += 100) {
    await sql`INSERT INTO messages (session_id, seq, message_id, role, content, tool_calls,
        token_count, checkpointed, ts)
      SELECT s.id, m.seq, m.message_id, m.role, m.content, m.tool_calls, m.token_count, 1, m.ts
      FROM sessions s CROSS JOIN messages m
      WHERE m.session_id = ${template.session} AND s.id IN (${sql.join(ids.slice(index, index + 100))})
      ORDER BY (m.seq - 1) / ${sql.lit(EXCHANGE_MESSAGES)}, s.id, m.seq`.execute(db);
  }
}

async function copyBodies({ db }: Tx, { template, ids, done }: Copies): Promise<void> {
  const first = template.thread;
  const copies = sql`t.id BETWEEN ${first + done} AND ${first + done + ids.length - 1}`;
  const nth = sql`(t.id - ${sql.lit(first)})`;
  const body = sql`${nth} * ${sql.lit(template.bodies)}`;
  const list = sql`${nth} * ${sql.lit(template.lists)}`;
  await sql`INSERT INTO checkpoint_bodies (id, thread, hash, body)
    SELECT b.id + ${body}, t.id, b.hash, b.body
    FROM threads t CROSS JOIN checkpoint_bodies b
    WHERE b.thread = ${first} AND ${copies}`.execute(db);
  await sql`INSERT INTO checkpoint_lists (id, thread, base, base_length, length, depth)
    SELECT l.id + ${list}, t.id, l.base + ${list}, l.base_length, l.length, l.depth
    FROM threads t CROSS JOIN checkpoint_lists l
    WHERE l.thread = ${first} AND ${copies}`.execute(db);
  await sql`INSERT INTO checkpoint_list_items (list, position, body)
    SELECT i.list + ${list}, i.position, i.body + ${body}
    FROM threads t CROSS JOIN checkpoint_list_items i
    JOIN checkpoint_lists l ON l.id = i.list
    WHERE l.thread = ${first} AND ${copies}`.execute(db);
}

/** Their values refer to bodies and lists, so they are written again. */
async function copyCheckpoints({ db }: Tx, { template, ids, done }: Copies): Promise<void> {
  const originals = await db
    .selectFrom("checkpoints")
    .selectAll()
    .where("thread", "=", template.thread)
    .orderBy("id")
    .execute();
  for (let index = 0; index < ids.length; index += 20) {
    const rows = ids
      .slice(index, index + 20)
      .flatMap((_, at) => originals.map((row) => copyOf(row, template, done + index + at)));
    await db.insertInto("checkpoints").values(rows).execute();
  }
}

function copyOf(
  row: Selectable<CheckpointTable>,
  template: Template,
  nth: number,
): Selectable<CheckpointTable> {
  const places: IdMap = {
    body: (id) => id + nth * template.bodies,
    list: (id) => id + nth * template.lists,
  };
  const channels = Object.entries(JSON.parse(row.channels) as Record<string, unknown>);
  const relocated = channels.map(([name, value]) => [name, mapIds(value, places)]);
  return {
    ...row,
    id: row.id + nth * template.checkpoints,
    thread: row.thread + nth,
    shape: places.body(row.shape),
    channels: JSON.stringify(Object.fromEntries(relocated)),
    metadata: JSON.stringify(mapIds(JSON.parse(row.metadata), places)),
  };
}

/** PostgreSQL does not advance a sequence for ids that were inserted explicitly; SQLite does. */
const advanceSequences: Operation<null, void> = async ({ db, dialect }) => {
  if (dialect.writersQueue) {
    return;
  }
  for (const table of ["threads", "checkpoint_bodies", "checkpoint_lists", "checkpoints"]) {
    await sql`SELECT setval(pg_get_serial_sequence(${table}, 'id'), (SELECT max(id) FROM ${sql.ref(table)}))`.execute(
      db,
    );
  }
};
