import { realpath } from "node:fs/promises";

import type { Selectable } from "kysely";

import { isFinal } from "../../core/exchanges.ts";
import { PLAN_AGENT } from "../../core/plan-runs.ts";
import { isDelegated } from "../../core/session-tree.ts";
import { isTime } from "../../core/time.ts";
import { type CheckedRecord, recordProblems } from "../records/exchanges/check.ts";
import type { SessionTable } from "../tables/database.ts";
import { type CheckedQuestion, questionProblems } from "../records/questions/check.ts";
import { projectKeyOf } from "../project-key.ts";
import { MAX_ANCESTORS, threadRange } from "../records/sessions/tree-ids.ts";
import type { Operation, Tx } from "../store.ts";
import { about, type Difference } from "./difference.ts";
import { hasRow } from "./has-row.ts";
import { runFindings } from "./run-findings.ts";
import { readRunRecord, type RunRecord } from "./run-record.ts";
import { readUsageRecord, usageFindings, type UsageRecord } from "./usage.ts";

/** Columns of a session's row besides what follows from its messages. */
const COLUMNS = [
  "id",
  "state",
  "depth",
  "parent_session_id",
  "parent_call_id",
  "repo_path",
  "project_key",
  "ended_at",
  "last_activity_at",
  "root_session_id",
  "exchange_count",
  "thread_suffix",
  "last_seq",
  "ready_at",
  "lease_owner",
  "exchange_open",
  "agent",
] as const;
type SessionRecord = Pick<Selectable<SessionTable>, (typeof COLUMNS)[number]>;

export interface StoredRecord {
  readonly row: SessionRecord;
  readonly exchanges: readonly CheckedRecord[];
  readonly questions: readonly CheckedQuestion[];
  readonly usage: UsageRecord;
  /** The plan that the session runs; null if it runs none. */
  readonly run: RunRecord | null;
  /** The parent; null if none is named or the named one does not exist. */
  readonly parent: { readonly depth: number; readonly knowsCall: boolean } | null;
  /** How many sessions are above this one; null if they form a cycle. */
  readonly above: number | null;
  /** The session at the top of the tree; null if it is not known. */
  readonly root: string | null;
}

export async function readRecord(tx: Tx, session_id: string): Promise<StoredRecord> {
  const { has_run, ...row } = await tx.db
    .selectFrom("sessions")
    .select(COLUMNS)
    .select(({ exists, selectFrom, lit }) =>
      exists(
        selectFrom("plan_runs")
          .select(lit(1).as("one"))
          .whereRef("plan_runs.session_id", "=", "sessions.id"),
      ).as("has_run"),
    )
    .where("id", "=", session_id)
    .executeTakeFirstOrThrow();
  const exchanges = await tx.db
    .selectFrom("exchanges")
    .select(["n", "id", "revision", "parent_n", "state", "thread_suffix", "first_seq", "last_seq"])
    .select(["input_before", "output_before", "input_tokens", "output_tokens"])
    .select(["error_code", "error_sentence", "begun_at", "ended_at"])
    .select(["content", "authenticated", "queued_at"])
    .where("session_id", "=", session_id)
    .orderBy("n")
    .execute();
  const questions = await tx.db
    .selectFrom("questions")
    .select([
      "thread_suffix",
      "call_id",
      "number",
      "state",
      "kind",
      "choices",
      "answer",
      "answered_at",
      "answered_by",
      "default_answer",
      "answer_by",
    ])
    .where("session_id", "=", session_id)
    .orderBy("thread_suffix")
    .orderBy("call_id")
    .orderBy("number")
    .execute();
  const usage = await readUsageRecord(tx, session_id);
  const run = has_run ? await readRunRecord(tx, row) : null;
  return { row, exchanges, questions, usage, run, ...(await readParents(tx, row)) };
}

type Parents = Pick<StoredRecord, "parent" | "above" | "root">;

async function readParents(tx: Tx, row: SessionRecord): Promise<Parents> {
  let parent: StoredRecord["parent"] = null;
  let root = row.id;
  let next = row.parent_session_id;
  for (let above = 0; above < MAX_ANCESTORS; above += 1) {
    if (next === null) {
      return { parent, above, root };
    }
    const found = await tx.db
      .selectFrom("sessions")
      .select(["id", "depth", "parent_session_id"])
      .where("id", "=", next)
      .executeTakeFirst();
    if (found === undefined) {
      return { parent, above, root: null };
    }
    parent ??= { depth: found.depth, knowsCall: await knowsCall(tx, row) };
    root = found.id;
    next = found.parent_session_id;
  }
  return { parent, above: null, root: null };
}

/** Ids of calls that a text can be searched for: no wildcards, and the same in JSON. */
export const SEARCHABLE_CALL = /^[\w-]+$/;

/** True if the parent's messages or checkpoints name the call, or that cannot be known. */
async function knowsCall(
  tx: Tx,
  { parent_session_id, parent_call_id }: SessionRecord,
): Promise<boolean> {
  if (
    parent_session_id === null ||
    parent_call_id === null ||
    !SEARCHABLE_CALL.test(parent_call_id)
  ) {
    return true;
  }
  const pattern = `%"${parent_call_id}"%`;
  const { from, before } = threadRange(parent_session_id);
  const messages = tx.db
    .selectFrom("messages")
    .select("seq")
    .where("session_id", "=", parent_session_id)
    .where("tool_calls", "like", pattern);
  const bodies = tx.db
    .selectFrom("checkpoint_bodies")
    .innerJoin("threads", "threads.id", "checkpoint_bodies.thread")
    .select("checkpoint_bodies.id")
    .where("thread_id", ">=", from)
    .where("thread_id", "<", before)
    .where("body", "like", pattern);
  return (await hasRow(messages)) || (await hasRow(bodies));
}

export interface Orphans {
  readonly session_id: string;
  readonly messages: number;
}

/** Messages of sessions that have no row any more, by session. */
export const readOrphans: Operation<null, readonly Orphans[]> = ({ db }) =>
  db
    .selectFrom("messages")
    .leftJoin("sessions", "sessions.id", "messages.session_id")
    .select(["session_id", ({ fn }) => fn.countAll<number>().as("messages")])
    .where("sessions.id", "is", null)
    .groupBy("session_id")
    .orderBy("session_id")
    .execute();

/** Values of a session's row that are impossible. But for the root, nothing shows the right ones. */
export function compareRecord(record: StoredRecord): Difference[] {
  const parent = parentProblem(record);
  return [
    ...(parent === null ? depthFindings(record) : [about("parent", parent)]),
    ...rootFindings(record),
    ...projectFindings(record),
    ...endFindings(record),
    ...exchangeFindings(record),
    ...questionFindings(record),
    ...readyFindings(record),
    ...usageFindings(record.usage),
    ...planFindings(record),
  ];
}

function planFindings({ row: { agent }, run, exchanges }: StoredRecord): Difference[] {
  if ((agent === PLAN_AGENT) !== (run !== null)) {
    const sentence =
      run === null
        ? "The session runs a plan, and the rows of its run are missing."
        : "The session has the rows of a run, and another agent.";
    return [about("run", sentence)];
  }
  return run === null ? [] : runFindings(run, exchanges.at(-1) ?? null);
}

function parentProblem({ row, parent, above }: StoredRecord): string | null {
  if (row.parent_session_id === null) {
    return row.parent_call_id === null
      ? null
      : "The session was begun by a call of its parent, and names no parent.";
  }
  if (parent === null) {
    return "The session names a parent that does not exist.";
  }
  if (!parent.knowsCall) {
    return "The session's parent has no call that began it.";
  }
  return above === null && row.parent_call_id === null
    ? "The session's parents form a cycle."
    : null;
}

/** The parent's depth may be the wrong one, and so may be the one above it. */
function depthFindings({ row, parent, above }: StoredRecord): Difference[] {
  const fits =
    parent === null
      ? row.depth === 0
      : row.depth === parent.depth + 1 || above === null || row.depth === above;
  return fits ? [] : [about("depth", `depth is ${row.depth}, which does not fit its parent.`)];
}

function rootFindings({ row, root }: StoredRecord): Difference[] {
  const fits = root === null || row.root_session_id === root;
  return fits
    ? []
    : [about("root", "root_session_id is not the session at the top of the session's tree.")];
}

function exchangeFindings({ row, exchanges }: StoredRecord): Difference[] {
  return [...recordProblems(exchanges, row)].map(({ index, field, message }) =>
    index === null
      ? about("exchange", `${field} of the session: ${message}`)
      : about(
          "exchange",
          `The record of exchange ${exchanges[index]?.n ?? 0}: ${field}. ${message}`,
        ),
  );
}

function questionFindings({ row, questions }: StoredRecord): Difference[] {
  return [...questionProblems(questions, row)].map(({ index, field, message }) =>
    about("question", `Question ${index + 1} of the session: ${field}. ${message}`),
  );
}

/** A process that has the lease and begins nothing leaves `ready_at` empty until it gives the lease back. */
function readyFindings({ row, exchanges }: StoredRecord): Difference[] {
  const open = exchanges.filter(({ state }) => !isFinal(state));
  const hasQueued = open.some(({ state }) => state === "queued");
  const mayRun =
    hasQueued &&
    open.every(({ state }) => state === "queued") &&
    row.state === "active" &&
    !isDelegated(row) &&
    row.lease_owner === null;
  if (mayRun && row.ready_at === null) {
    const sentence =
      "An exchange is queued, and ready_at is not set, so no node finds it; a running service sets it.";
    return [about("exchange", sentence)];
  }
  return row.ready_at !== null && !hasQueued
    ? [about("exchange", "ready_at is set, and no exchange is queued.")]
    : [];
}

const PROJECT_KEY = /^[0-9a-f]{16}$/;

/**
 * Whether the key is that of the folder cannot be checked later: links change, folders move. A
 * folder without a key is right, because that is the column's default.
 */
function projectFindings({ row: { repo_path, project_key } }: StoredRecord): Difference[] {
  if (project_key !== null && !PROJECT_KEY.test(project_key)) {
    return [about("project_key", "project_key is not 16 hexadecimal digits.")];
  }
  return repo_path === null && project_key !== null
    ? [about("project_key", "project_key is set, and repo_path is not.")]
    : [];
}

/**
 * The key of a folder that is on this machine, if no part of its path is a link: then the key follows from the path
 * alone. Of all other folders nothing is known.
 */
export async function keyFindings({
  row: { repo_path, project_key },
}: StoredRecord): Promise<Difference[]> {
  if (repo_path === null || project_key === null || !PROJECT_KEY.test(project_key)) {
    return [];
  }
  const real = await realpath(repo_path).catch(() => null);
  return real === repo_path && (await projectKeyOf(repo_path)) !== project_key
    ? [about("project_key", "project_key is not that of repo_path, which exists here.")]
    : [];
}

/** The end that fits the session's state, which every operation obeys; an unknown one is its last activity. */
export function expectedEnd({
  row: { state, ended_at, last_activity_at },
}: StoredRecord): string | null {
  const isKnown = ended_at !== null && isTime(ended_at);
  return state === "ended" ? (isKnown ? ended_at : last_activity_at) : null;
}

function endFindings({ row: { state, ended_at } }: StoredRecord): Difference[] {
  if (ended_at !== null && !isTime(ended_at)) {
    return [about("ended_at", "ended_at is not a time.")];
  }
  return (state === "ended") === (ended_at !== null)
    ? []
    : [about("ended_at", "ended_at has to be set in an ended session, and in no other.")];
}
