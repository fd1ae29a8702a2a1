import { NO_FACTS } from "../../core/calls.ts";
import { RepriseError } from "../../core/errors.ts";
import type { ToolCall } from "../../core/sessions.ts";
import { FAILURE_COLUMNS, storedFailureOf } from "../records/sessions/failures.ts";
import { readMetadataOf } from "../records/sessions/labels.ts";
import type { AskedPermission, Choice } from "../../core/questions.ts";
import type { Operation, Tx } from "../store.ts";
import {
  EXCHANGE_COLUMNS,
  MESSAGE_COLUMNS,
  MODEL_CALL_COLUMNS,
  type PortableChange,
  type PortableExchange,
  type PortableMessage,
  type PortableModelCall,
  type PortableQuestion,
  type PortableSession,
  QUESTION_COLUMNS,
  SESSION_COLUMNS,
  type SessionTree,
} from "./export-schema.ts";
import {
  EXCHANGE_DEFAULTS,
  fieldsOf,
  MESSAGE_DEFAULTS,
  ORIGIN_DEFAULTS,
  SESSION_DEFAULTS,
} from "./portable-columns.ts";
import { readThreads } from "./read-thread.ts";
import { readPortableRun } from "./portable-run.ts";
import { childIdsOf } from "../records/sessions/tree-ids.ts";

/**
 * A session and everything that belongs to it, with its sub-agents, in one consistent state.
 *
 * Error codes: `session_not_found`; `database_corrupt` if its rows are damaged or refer to
 * missing rows.
 */
export const readSessionTree: Operation<{ readonly id: string }, SessionTree> = async (
  tx,
  { id },
) => {
  try {
    return await readTree(tx, id, id);
  } catch (error) {
    if (error instanceof RangeError || error instanceof SyntaxError) {
      throw new RepriseError(
        "database_corrupt",
        "Rows of this session are damaged or refer to others that the database does not have, so it cannot be read whole; restore a backup.",
        { cause: error },
      );
    }
    throw error;
  }
};

/** Error codes: `database_corrupt` if `top` is below itself. */
async function readTree(tx: Tx, id: string, top: string): Promise<SessionTree> {
  const session = await readPortableSession(tx, id);
  const messages = await readPortableMessages(tx, id);
  const threads = await readThreads(tx, id);
  const children: SessionTree[] = [];
  for (const child of await childIdsOf(tx, id)) {
    if (child === top) {
      throw new RepriseError(
        "database_corrupt",
        "The parents of this session form a cycle, so it cannot be read whole. Export it as Markdown to read it, or restore a backup.",
      );
    }
    children.push(await readTree(tx, child, top));
  }
  return { session, messages, threads, children };
}

async function readPortableSession(tx: Tx, id: string): Promise<PortableSession> {
  const row = await tx.db
    .selectFrom("sessions")
    .select(SESSION_COLUMNS)
    .select(FAILURE_COLUMNS)
    .where("id", "=", id)
    .executeTakeFirst();
  if (row === undefined) {
    throw new RepriseError(
      "session_not_found",
      "No session has this id; list the sessions to see their ids.",
    );
  }
  const { failure_code, failure_sentence, fallback, ...columns } = row;
  const failure = storedFailureOf(row);
  const changes = await readChanges(tx, id);
  const exchanges = await readExchanges(tx, id);
  const questions = await readQuestions(tx, id);
  const metadata = await readMetadataOf(tx, id);
  const model_calls = await readModelCalls(tx, id);
  const run = await readPortableRun(tx, id);
  return {
    ...(fieldsOf(columns, SESSION_DEFAULTS) as PortableSession),
    ...(fallback === null ? {} : { fallback: JSON.parse(fallback) as string[] }),
    ...(failure === null ? {} : { failure }),
    ...(changes.length === 0 ? {} : { changes }),
    ...(exchanges.length === 0 ? {} : { exchanges }),
    ...(questions.length === 0 ? {} : { questions }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(model_calls.length === 0 ? {} : { model_calls }),
    ...(run === null ? {} : { run }),
  };
}

async function readChanges(tx: Tx, sessionId: string): Promise<PortableChange[]> {
  const rows = await tx.db
    .selectFrom("session_changes")
    .select(["field", "value", "ts", "origin", "authenticated", "accepted_at"])
    .where("session_id", "=", sessionId)
    .orderBy("number")
    .execute();
  return rows.map((row) => fieldsOf(row, ORIGIN_DEFAULTS) as PortableChange);
}

async function readExchanges(tx: Tx, sessionId: string): Promise<PortableExchange[]> {
  const rows = await tx.db
    .selectFrom("exchanges")
    .select(EXCHANGE_COLUMNS)
    .where("session_id", "=", sessionId)
    .orderBy("n")
    .execute();
  return rows.map((row) => fieldsOf(row, EXCHANGE_DEFAULTS) as PortableExchange);
}

async function readQuestions(tx: Tx, sessionId: string): Promise<PortableQuestion[]> {
  const rows = await tx.db
    .selectFrom("questions")
    .select(QUESTION_COLUMNS)
    .where("session_id", "=", sessionId)
    .orderBy("thread_suffix")
    .orderBy("call_id")
    .orderBy("number")
    .execute();
  return rows.map(({ choices, permission, ...row }) => ({
    ...row,
    choices: choices === null ? null : (JSON.parse(choices) as Choice[]),
    ...(permission === null ? {} : { permission: JSON.parse(permission) as AskedPermission }),
  }));
}

async function readModelCalls(tx: Tx, sessionId: string): Promise<PortableModelCall[]> {
  return tx.db
    .selectFrom("model_calls")
    .select(MODEL_CALL_COLUMNS)
    .where("session_id", "=", sessionId)
    .orderBy("n")
    .orderBy("epoch")
    .orderBy("call")
    .execute();
}

async function readPortableMessages(tx: Tx, sessionId: string): Promise<PortableMessage[]> {
  const rows = await tx.db
    .selectFrom("messages")
    .select(MESSAGE_COLUMNS)
    .where("session_id", "=", sessionId)
    .orderBy("seq")
    .execute();
  return rows.map((row) => {
    const calls = row.tool_calls === null ? null : (JSON.parse(row.tool_calls) as ToolCall[]);
    const tool_calls = calls?.map((call) => fieldsOf(call, NO_FACTS)) ?? null;
    return fieldsOf({ ...row, tool_calls }, MESSAGE_DEFAULTS) as PortableMessage;
  });
}
