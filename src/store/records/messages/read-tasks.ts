import { type Task, tasksOf, TASKS_TOOL } from "../../../core/text/tasks.ts";
import { type Parameter, prepared } from "../../prepared.ts";
import type { Operation, Tx } from "../../store.ts";
import { toolCallsOf } from "./rows.ts";

/** Messages in which the list is searched, the last ones of the session: an older list is out of date. */
const MAX_SEARCHED = 500;
/** Answers that are read at most: calls that failed changed nothing. */
const MAX_ANSWERS = 20;

/**
 * Reads the agent's to-do list in the session's thread: that of its last call that succeeded, empty without one. Error
 * codes: `database_corrupt`.
 */
export const readTasks: Operation<{ readonly id: string }, readonly Task[]> = async (
  tx,
  { id: session_id },
) => {
  const answers = await tx.rows(answersWithTasks, { session_id });
  for (const { seq, tool_calls } of answers) {
    const calls = toolCallsOf(tool_calls ?? "[]").filter((call) => tasksOf(call) !== null);
    const ended = calls.length === 0 ? new Set() : await succeeded(tx, { session_id, seq });
    const last = calls.findLast((call) => ended.has(call.id));
    if (last !== undefined) {
      return tasksOf(last) ?? [];
    }
  }
  return [];
};

/** Ids of the calls of an answer that succeeded: their results come before the next answer. */
async function succeeded(
  tx: Tx,
  place: { readonly session_id: string; readonly seq: number },
): Promise<ReadonlySet<string | null>> {
  const results = await tx.rows(resultsAfter, place);
  const end = results.findIndex(({ role }) => role !== "tool");
  const own = end === -1 ? results : results.slice(0, end);
  return new Set(own.flatMap(({ call_id, status }) => (status === "ok" ? [call_id] : [])));
}

const answersWithTasks = prepared(({ db }, given: Parameter<{ readonly session_id: string }>) =>
  db
    .selectFrom("messages")
    .innerJoin("sessions", "sessions.id", "messages.session_id")
    .select(["seq", "tool_calls"])
    .where("messages.session_id", "=", given("session_id"))
    .where("archived", "=", 0)
    .where("role", "=", "assistant")
    .where("tool_calls", "like", `%"${TASKS_TOOL}"%`)
    .where((eb) => eb("seq", ">", eb("sessions.last_seq", "-", MAX_SEARCHED)))
    .where((eb) =>
      eb(
        "seq",
        ">=",
        eb.fn.coalesce(
          eb
            .selectFrom("exchanges")
            .select((exchange) => exchange.fn.min<number>("first_seq").as("first"))
            .where("exchanges.session_id", "=", given("session_id"))
            .whereRef("exchanges.thread_suffix", "=", "sessions.thread_suffix"),
          eb.val(0),
        ),
      ),
    )
    .orderBy("seq", "desc")
    .limit(MAX_ANSWERS),
);

const resultsAfter = prepared(
  ({ db }, given: Parameter<{ readonly session_id: string; readonly seq: number }>) =>
    db
      .selectFrom("messages")
      .select(["role", "call_id", "status"])
      .where("session_id", "=", given("session_id"))
      .where("seq", ">", given("seq"))
      .orderBy("seq")
      .limit(MAX_SEARCHED),
);
