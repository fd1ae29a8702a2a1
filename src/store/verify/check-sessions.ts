import { PLAN_AGENT } from "../../core/plan-runs.ts";
import type { ExchangeFailure } from "../../core/sessions.ts";
import { quote } from "../../core/text/terminal-text.ts";
import { plural } from "../../core/text/text.ts";
import { FAILURE_COLUMNS, failureLine, storedFailureOf } from "../records/sessions/failures.ts";
import { countQueue } from "../records/exchanges/count-queue.ts";
import { hasNode } from "../records/exchanges/nodes.ts";
import { sessionInThreadId } from "../records/threads/free-threads.ts";
import type { Operation, Tx } from "../store.ts";
import { type Check, ok, warning } from "../check.ts";

/** Ids that a sentence names. */
const MAX_IDS = 3;
/** Agents that a sentence names. */
const MAX_AGENTS = 3;
/** Characters of an id that a sentence shows. */
const ID_LENGTH = 8;

/**
 * Lists the sessions and threads that can be continued: exchanges that were cut short, and threads that belong to no
 * session. `resume` is the command that resumes session `<id>`.
 */
export const checkSessions: Operation<{ readonly resume: string }, readonly Check[]> = async (
  tx,
  { resume },
) => [await checkExchanges(tx, resume), await checkQueue(tx), await checkThreads(tx)];

async function checkQueue(tx: Tx): Promise<Check> {
  const { queued, oldest } = await countQueue(tx, null);
  if (queued === 0) {
    return ok("queue", "No exchange is queued.");
  }
  const waiting = `${plural(queued, "exchange")} queued, the first since ${oldest ?? "?"}.`;
  return (await hasNode(tx))
    ? ok("queue", waiting)
    : warning("queue", `${waiting} No service runs them: start one with reprise serve.`);
}

/** A lease that has run out was not given back: its process was killed, or sleeps. */
async function checkExchanges(tx: Tx, resume: string): Promise<Check> {
  const rows = await tx.db
    .selectFrom("sessions")
    .select(FAILURE_COLUMNS)
    .select(({ exists, selectFrom, eb }) => [
      "id",
      "agent",
      exists(
        selectFrom("exchanges")
          .select(eb.lit(1).as("one"))
          .whereRef("exchanges.session_id", "=", "sessions.id")
          .whereRef("exchanges.epoch", "=", "sessions.lease_epoch")
          .where("exchanges.ended_at", "is", null)
          .where("exchanges.state", "=", "waiting"),
      ).as("waits"),
    ])
    .where(({ eb, or }) => or([eb("exchange_open", "=", 1), eb("lease_owner", "is not", null)]))
    // an exchange that a node has given back is queued
    .where("ready_at", "is", null)
    .where(({ eb, or }) =>
      or([eb("lease_expires_at", "is", null), eb("lease_expires_at", "<=", tx.dialect.now())]),
    )
    .orderBy("last_activity_at", "desc")
    .execute();
  const waiting = rows.filter(({ waits }) => Boolean(waits));
  const others = rows.filter((row) => !waiting.includes(row));
  const asked =
    waiting.length === 0
      ? ""
      : ` In ${plural(waiting.length, "session")} one waits for the answer of a person (${names(waiting)}).`;
  if (others.length === 0) {
    return ok("exchanges", `No exchange was cut short or failed.${asked}`);
  }
  const open = others.map((row) => ({ id: row.id, failure: storedFailureOf(row) }));
  const cut = open.filter(({ failure }) => failure === null);
  const failed = open.filter(({ failure }) => failure !== null);
  const found = [
    ...(cut.length === 0 ? [] : [`cut short in ${plural(cut.length, "session")} (${names(cut)})`]),
    ...(failed.length === 0
      ? []
      : [`failed in ${plural(failed.length, "session")} (${names(failed)})`]),
  ].join("; ");
  const talks = others.filter(({ agent }) => agent !== PLAN_AGENT);
  const runs =
    talks.length === others.length ? "" : " Continue runs of plans with `reprise plan resume`.";
  const then =
    talks.length === 0
      ? `.${asked}`
      : `; type /continue or a new message there. Resume with: ${resume}${forAgents(talks)}${asked === "" ? "" : `.${asked}`}`;
  return warning("exchanges", `Exchanges: ${found}.${runs} Nothing that was stored is lost${then}`);
}

/** Returns what the command lacks for sessions of agents that are not ours. */
function forAgents(rows: readonly { readonly agent: string | null }[]): string {
  const agents = [...new Set(rows.flatMap(({ agent }) => agent ?? []))];
  const named = agents.slice(0, MAX_AGENTS).map(quote).join(", ");
  return agents.length === 0
    ? ""
    : ` (add --agent <its module> for the agent ${named}${agents.length > MAX_AGENTS ? " …" : ""})`;
}

/** The first ids, each with the reason for which its exchange failed. */
function names(
  open: readonly { readonly id: string; readonly failure?: ExchangeFailure | null }[],
): string {
  const shown = open
    .slice(0, MAX_IDS)
    .map(({ id, failure = null }) =>
      [id.slice(0, ID_LENGTH), ...(failure === null ? [] : [failureLine(failure)])].join(": "),
    );
  return `${shown.join(", ")}${open.length > MAX_IDS ? " …" : ""}`;
}

async function checkThreads(tx: Tx): Promise<Check> {
  const { free, owned } = await tx.db
    .selectFrom("threads")
    .leftJoin("sessions", (join) => join.on("sessions.id", "=", sessionInThreadId()))
    .select(({ fn }) => [
      fn.countAll<number>().filterWhere("sessions.id", "is", null).as("free"),
      fn.count<number>("sessions.id").as("owned"),
    ])
    .executeTakeFirstOrThrow();
  return ok(
    "threads",
    free === 0
      ? "Every thread belongs to a session."
      : `${plural(owned, "thread")} of sessions, ${plural(free, "thread")} without one. \`reprise threads list\` lists those.`,
  );
}
