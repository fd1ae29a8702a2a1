import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { onTestFinished } from "vitest";

import { keepCallFacts, keepStatus } from "../../../src/agent/messages/keep-facts.ts";
import { BUILT_IN_TOOLS } from "../../../src/rules/tools/built-in.ts";
import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { createExchanger } from "../../../src/agent/exchange.ts";
import type { Repair } from "../../../src/store/verify/repair.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { startThread } from "../../../src/store/records/sessions/change.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import type { Operation, Store } from "../../../src/store/store.ts";
import { createDatabase } from "../database.ts";
import { leasedStore } from "../checkpoints/leased-store.ts";
import { agentOptions } from "../exchanger.ts";
import { openStoreAt } from "../open-store.ts";
import { execute } from "../engines.ts";
import { repair } from "./repair.ts";
import { currentThread, pendingQuestions, putMessages, startOf } from "./thread.ts";

/** A session in a separate database, with functions that damage it. */
export interface Bench {
  readonly store: Store;
  readonly id: string;
  /** Appends as the HTTP API does. */
  append(content: string): Promise<void>;
  /** One exchange with the demo model. */
  exchange(text: string | null): Promise<void>;
  /** `/clear`, or `/model` without `archive`. */
  freshThread(archive: boolean): Promise<void>;
  /** Puts a checkpoint with all that the agent handed over and answered; see `put`. */
  put(...added: BaseMessage[]): Promise<void>;
  /** Puts a checkpoint with exactly these messages. */
  putAll(messages: readonly BaseMessage[]): Promise<void>;
  /** Hands every pending message to the agent, as an exchange begins. */
  handOver(): Promise<void>;
  /** Damage: any SQL, `:id` being the session. */
  plant(sql: string, ...values: (string | number | null)[]): Promise<void>;
  kinds(): Promise<string[]>;
  repair(): Promise<Repair>;
  /** Every row and counter of the session, as stored. */
  dump(): Promise<Dump>;
}

export interface Dump {
  readonly rows: Record<string, unknown>[];
  readonly session: Record<string, unknown>;
}

export async function openBench(): Promise<Bench> {
  const database = await createDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const store = await openStoreAt(database.location);
  onTestFinished(() => store.close());
  const { id } = await store.write(createSession, { persona_name: "assistant" });
  const exchanger = createExchanger(agentOptions(store));
  return {
    store,
    id,
    append: async (content) => {
      await store.write(appendUserMessage, { reference: id, content });
    },
    exchange: async (text) => {
      const signal = new AbortController().signal;
      await exchanger.exchange({ session_id: id, text }, { listener: () => undefined, signal });
    },
    freshThread: async (archive) => {
      await store.write(startThread, { id, archive });
    },
    ...puts(store, id),
    plant: async (sql, ...values) => {
      await execute(store, sql.replaceAll(":id", `'${id}'`), ...values);
    },
    kinds: async () => {
      const { findings } = await verifySession(store, id);
      return [...new Set(findings.map(({ kind }) => kind))].sort();
    },
    repair: () => repair(store, id),
    dump: () => store.read(dump, { id }),
  };
}

const dump: Operation<{ readonly id: string }, Dump> = async ({ db }, { id }) => {
  const messages = db.selectFrom("messages").selectAll().where("session_id", "=", id);
  const session = await db
    .selectFrom("sessions")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirst();
  // plain objects, whatever the engine's are
  const rows = (await messages.orderBy("seq").execute()).map((row) => ({ ...row }));
  // each write gets another number
  const { changed: _, created_change: __, ...fields } = { ...session };
  return { rows, session: fields };
};

/** Checkpoints without a model: what the agent would put, message by message. */
function puts(store: Store, id: string): Pick<Bench, "put" | "putAll" | "handOver"> {
  const saver = createCheckpointSaver({ store: leasedStore(store) });
  const latest = async () => saver.getTuple(startOf(await currentThread(store, id)));
  const putAll = async (messages: readonly BaseMessage[]): Promise<void> => {
    const parent = await latest();
    await putMessages(saver, {
      after: parent?.config ?? startOf(await currentThread(store, id)),
      messages,
      version: Number(parent?.checkpoint.channel_versions["messages"] ?? 0) + 1,
    });
  };
  const put = async (...added: BaseMessage[]): Promise<void> => {
    const before = (await latest())?.checkpoint.channel_values["messages"];
    await putAll([...(Array.isArray(before) ? (before as BaseMessage[]) : []), ...added]);
  };
  return {
    put,
    putAll,
    handOver: async () => {
      await put(...(await pendingQuestions(store, id)));
    },
  };
}

let counted = 0;

/** An answer; with `usage` the provider counted it. */
export function answer(content: string, usage?: [input: number, output: number]): AIMessage {
  counted += 1;
  return new AIMessage({
    id: `answer-${counted}`,
    content,
    ...(usage === undefined
      ? {}
      : {
          usage_metadata: {
            input_tokens: usage[0],
            output_tokens: usage[1],
            total_tokens: usage[0] + usage[1],
          },
        }),
  });
}

/** An answer that calls a tool, and the tool's result. */
export function toolRound(content: string): [AIMessage, ToolMessage] {
  counted += 1;
  const call = { id: `call-${counted}`, name: "read_file", args: { path: content, 7: [1, null] } };
  const calling = new AIMessage({ id: `answer-${counted}`, content: "", tool_calls: [call] });
  keepCallFacts(calling, BUILT_IN_TOOLS);
  const result = new ToolMessage({ id: `tool-${counted}`, content, tool_call_id: call.id });
  return [calling, keepStatus(result, "ok")];
}

/** Two exchanges, one with a tool, then a message that waits. */
export async function benchWithTwoExchanges(): Promise<Bench> {
  const bench = await openBench();
  await bench.append("first question");
  await bench.handOver();
  await bench.put(answer("first answer", [100, 10]));
  await bench.append("second question");
  await bench.handOver();
  await bench.put(...toolRound("README.md"));
  await bench.put(answer("second answer"));
  await bench.append("and this one waits");
  return bench;
}

/** What follows from the checkpoints: times and the lease do not. */
export function fieldsFromCheckpoints({ rows, session }: Dump) {
  const { lease_epoch: _, last_message_at: __, last_activity_at: ___, ...counters } = session;
  return { counters, rows: rows.map(({ ts: _, idempotency_key: __, ...row }) => row) };
}

/** Damage: two rows change places. */
export async function swap(bench: Bench, one: number, other: number): Promise<void> {
  const move = "UPDATE messages SET seq = ? WHERE session_id = :id AND seq = ?";
  await bench.plant(move, 999_999, one);
  await bench.plant(move, one, other);
  await bench.plant(move, other, 999_999);
}
