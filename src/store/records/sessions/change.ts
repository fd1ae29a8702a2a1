import { PLAN_AGENT } from "../../../core/plan-runs.ts";
import { runTakesNoMessage } from "../plans/takes-no-message.ts";
import { RepriseError } from "../../../core/errors.ts";
import { type Principal, consenterOf } from "../../../core/principal.ts";
import type { Session } from "../../../core/sessions.ts";
import type { Operation, Tx } from "../../store.ts";
import { refreshReady } from "../exchanges/ready.ts";
import { SESSION_ENDED, stopAllRecords, stopRecords } from "../exchanges/records.ts";
import { continueAbove } from "../questions/continue.ts";
import { firstOpenQuestion } from "../questions/read.ts";
import { delegationOf, lockPath } from "../questions/tree.ts";
import { withdrawQuestions } from "../questions/withdraw.ts";
import { indexFamily } from "../search/forget.ts";
import { recordConsent } from "./consents.ts";
import { NO_FAILURE } from "./failures.ts";
import { lockSession } from "./lock.ts";
import { recordChanges } from "./record-changes.ts";
import { readSession } from "./read.ts";

/**
 * Ends a session and all below it, sub-agents or not; ending it twice changes nothing. Their
 * leases are taken away, so an exchange that is still running writes nothing more.
 *
 * Error codes: `session_not_found`.
 */
export const endSession: Operation<{ readonly id: string }, Session> = async (tx, { id }) => {
  const path = await lockPath(tx, id);
  await endActive(tx, [id]);
  for (let parents = [id]; parents.length > 0;) {
    parents = await openChildren(tx, parents);
    await endActive(tx, parents);
  }
  await withdrawQuestions(tx, id, { isSuperseded: false, messages: true, all: true });
  await continueAbove(tx, await delegationOf(tx, path));
  return readSession(tx, { id });
};

async function openChildren(tx: Tx, parents: readonly string[]): Promise<string[]> {
  const rows = await tx.db
    .selectFrom("sessions")
    .select("id")
    .where("parent_session_id", "in", parents)
    .where("state", "=", "active")
    .execute();
  return rows.map(({ id }) => id);
}

async function endActive(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) {
    return;
  }
  await tx.db
    .updateTable("sessions")
    .set((eb) => ({
      state: "ended",
      ended_at: tx.dialect.now(),
      lease_owner: null,
      lease_expires_at: null,
      lease_epoch: eb("lease_epoch", "+", 1),
      exchange_open: 0,
      ready_at: null,
      ...NO_FAILURE,
    }))
    .where("id", "in", ids)
    .where("state", "=", "active")
    .execute();
  await stopAllRecords(tx, ids, SESSION_ENDED);
  for (const id of ids) {
    tx.touch(id);
  }
}

export interface NewThread {
  readonly id: string;
  /** True for the clear action: every message so far is archived. */
  readonly archive: boolean;
  /** Set if the thread begins with another model or persona; kept otherwise. */
  readonly model?: string;
  readonly persona_name?: string;
  /** The name of the agent that the thread is for, null for the built-in one; kept otherwise. */
  readonly agent?: string | null;
  /** Who changes it; unknown callers count as authenticated. */
  readonly principal?: Principal;
}

/**
 * Begins a fresh agent thread: the suffix is raised by one, nothing is deleted. Messages that wait
 * for the agent still reach it, unless they are archived. An exchange whose lease ran out may only
 * sleep: its epoch is over, so it adds nothing more to the thread before.
 *
 * Error codes: `session_not_found`, `session_ended`, `session_busy` while an exchange runs; `run_takes_no_message` for
 * the session of a run.
 */
export const startThread: Operation<NewThread, Session> = async (tx, input) => {
  const path = await lockPath(tx, input.id);
  const session = await holdActive(tx, input.id);
  if (session.activity === "running") {
    throw new RepriseError(
      "session_busy",
      "An exchange is running in this session; wait until it is done, or stop it.",
    );
  }
  if (session.agent === PLAN_AGENT) {
    throw runTakesNoMessage();
  }
  await tx.db
    .updateTable("sessions")
    .set((eb) => ({
      thread_suffix: eb("thread_suffix", "+", 1),
      lease_owner: null,
      lease_expires_at: null,
      lease_epoch: eb("lease_epoch", "+", 1),
      exchange_open: 0,
      ...NO_FAILURE,
      ...(input.archive ? { cleared_seq: eb.ref("last_seq") } : {}),
      ...(input.model === undefined ? {} : { model: input.model }),
      ...(input.persona_name === undefined ? {} : { persona_name: input.persona_name }),
      ...(input.agent === undefined ? {} : { agent: input.agent }),
    }))
    .where("id", "=", input.id)
    .execute();
  await (input.archive ? stopAllRecords : stopRecords)(tx, [input.id], null);
  await withdrawQuestions(tx, input.id, { isSuperseded: true, messages: input.archive });
  await continueAbove(tx, await delegationOf(tx, path));
  await refreshReady(tx, input.id);
  if (input.archive) {
    await archiveAll(tx, input.id);
    await indexFamily(tx, input.id);
  }
  const { id: session_id, model, persona_name, principal } = input;
  await recordChanges(tx, { session_id, changes: { model, persona_name }, principal });
  tx.touch(input.id);
  return readSession(tx, { id: input.id });
};

export interface SwitchModel {
  readonly id: string;
  readonly model: string;
  /** Unknown callers count as authenticated. */
  readonly principal?: Principal | undefined;
}

/**
 * Lets another model continue the thread. An exchange that was interrupted or failed is continued with it.
 *
 * Error codes: `session_not_found`, `session_ended`, `session_busy` while an exchange runs or waits for an answer.
 */
export const switchModel: Operation<SwitchModel, Session> = async (tx, input) => {
  const { id, model, principal } = input;
  const { activity } = await holdActive(tx, id);
  if (activity === "running") {
    throw new RepriseError(
      "session_busy",
      "An exchange is running in this session; wait until it is done, or stop it.",
    );
  }
  if ((await firstOpenQuestion(tx, id)) !== null) {
    throw new RepriseError(
      "session_busy",
      "An exchange of this session waits for an answer. Answer its question or stop it, then change the model.",
    );
  }
  await tx.db.updateTable("sessions").set({ model }).where("id", "=", id).execute();
  await recordChanges(tx, { session_id: id, changes: { model }, principal });
  tx.touch(id);
  return readSession(tx, { id });
};

async function archiveAll(tx: Tx, sessionId: string): Promise<void> {
  await tx.db
    .updateTable("messages")
    .set({ archived: 1 })
    .where("session_id", "=", sessionId)
    .where("archived", "=", 0)
    .execute();
}

/** Turns planning mode on or off. Error codes: `session_not_found`, `session_ended`. */
export const setPlanMode: Operation<
  { readonly id: string; readonly plan_mode: boolean } & {
    readonly principal?: Principal | undefined;
  },
  Session
> = async (tx, { id, plan_mode, principal }) => {
  await holdActive(tx, id);
  const subject = plan_mode ? "plan" : "plan off";
  await recordConsent(tx, { session_id: id, kind: "mode", subject, who: consenterOf(principal) });
  await tx.db
    .updateTable("sessions")
    .set({ plan_mode: plan_mode ? 1 : 0 })
    .where("id", "=", id)
    .execute();
  return readSession(tx, { id });
};

export interface TakeFolder {
  readonly id: string;
  /** Absolute. */
  readonly repo_path: string;
  /** See `projectKeyOf`. */
  readonly project_key: string;
  /** See `projectIdOf`. */
  readonly project_id?: string | null;
  readonly principal: Principal;
}

/**
 * Gives a session that began without a folder one. It keeps it: of two that take one at the same
 * moment the second is refused.
 *
 * Error codes: `session_not_found`, `session_ended`; `invalid_usage` if it has another folder.
 */
export const takeFolder: Operation<TakeFolder, Session> = async (tx, input) => {
  const { id, repo_path, project_key, project_id = null, principal } = input;
  const session = await holdActive(tx, id);
  if (session.repo_path !== null) {
    if (session.project_key === project_key) {
      return session;
    }
    throw otherFolder();
  }
  await tx.db
    .updateTable("sessions")
    .set({ repo_path, project_key, project_id })
    .where("id", "=", id)
    .execute();
  await indexFamily(tx, id);
  await recordChanges(tx, { session_id: id, principal, changes: { repo_path } });
  tx.touch(id);
  return readSession(tx, { id });
};

export function otherFolder(): RepriseError {
  return new RepriseError(
    "invalid_usage",
    "A session keeps the folder that it began with; leave --repo out, or begin a new session there.",
  );
}

/**
 * Holds a session's row until the transaction ends, and returns the session.
 *
 * Error codes: `session_not_found`, `session_ended`.
 */
export async function holdActive(tx: Tx, id: string): Promise<Session> {
  await lockSession(tx, id);
  const session = await readSession(tx, { id });
  refuseEnded(session);
  return session;
}

/** Error codes: `session_ended`. */
export function refuseEnded(session: Pick<Session, "state">): void {
  if (session.state === "ended") {
    throw sessionEnded();
  }
}

export function sessionEnded(): RepriseError {
  return new RepriseError(
    "session_ended",
    "The session has ended and takes no more messages; begin a new one.",
  );
}
