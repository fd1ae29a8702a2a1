import { createHash } from "node:crypto";

import type { Insertable } from "kysely";

import { RepriseError } from "../../../core/errors.ts";
import { isFinal } from "../../../core/exchanges.ts";
import { PLAN_AGENT, type PlanChecks, type RunOptions } from "../../../core/plan-runs.ts";
import { consenterOf, type Principal } from "../../../core/principal.ts";
import type { Session } from "../../../core/sessions.ts";
import type { Operation, Tx } from "../../store.ts";
import type { PlanPhaseTable } from "../../tables/plans.ts";
import { readCurrent } from "../exchanges/current.ts";
import { insertMessage } from "../messages/append.ts";
import { createSession, type NewSession } from "../sessions/create.ts";
import { recordConsent } from "../sessions/consents.ts";
import { readSession } from "../sessions/read.ts";
import { batches } from "../threads/bodies.ts";

export interface CreateRun {
  /** Columns of the run's session, which has a folder. */
  readonly session: NewSession & { readonly repo_path: string; readonly model: string };
  readonly run_id: string;
  /** JSON of the plan. */
  readonly plan: string;
  /** Keys of its phases, in their order. */
  readonly keys: readonly string[];
  readonly path: string | null;
  /** Null if nothing is checked. */
  readonly checks: PlanChecks | null;
  readonly options: RunOptions;
  /** Message with which the run's exchange begins. */
  readonly request: string;
  /** True to run a plan once more whose earlier run has ended. */
  readonly again: boolean;
}

/**
 * Stores a run with its phases and the message that begins it, in one transaction: the process that continues the session next
 * runs the plan.
 *
 * Error codes: `run_exists` if a run of the project has this id, unless it has ended and `again` is given.
 */
export const createRun: Operation<CreateRun, Session> = async (tx, input) => {
  const { principal } = input.session;
  const { id, project_key, repo_path } = await createSession(tx, input.session);
  const project = project_key ?? repo_path ?? id;
  const number = await nextNumber(tx, project, input);
  const inserted = await insertRun(tx, {
    session_id: id,
    project_key: project,
    run_id: input.run_id,
    number,
    plan: input.plan,
    path: input.path,
    checks: input.checks,
    checks_accepted: 1,
    options: input.options,
  });
  if (!inserted) {
    throw runExists("another process has begun it just now");
  }
  const phases = input.keys.map((key, position) => ({
    session_id: id,
    key,
    position,
    state: "waiting" as const,
    attempt: 1,
    approved: 0,
  }));
  await insertPhases(tx, phases);
  if (input.checks !== null) {
    const subject = acceptedHash(input.plan, JSON.stringify(input.checks));
    await recordConsent(tx, { session_id: id, kind: "run", subject, who: consenterOf(principal) });
  }
  await tx.db.updateTable("sessions").set({ agent: PLAN_AGENT }).where("id", "=", id).execute();
  await insertMessage(tx, {
    session_id: id,
    content: input.request,
    idempotency_key: null,
    principal,
  });
  return readSession(tx, { id });
};

/** Stores phases of a run, however many they are. */
export async function insertPhases(
  { db }: Tx,
  phases: readonly Insertable<PlanPhaseTable>[],
): Promise<void> {
  for (const rows of batches(phases)) {
    await db.insertInto("plan_phases").values(rows).execute();
  }
}

/** Names a plan with its checks. */
function acceptedHash(plan: string, checks: string): string {
  return createHash("sha256")
    .update(JSON.stringify([plan, checks]))
    .digest("hex");
}

/**
 * Stores that a person lets the checks of a run be run that an import or a copy brought.
 *
 * Error codes: `run_missing`.
 */
export const acceptChecks: Operation<
  { readonly session_id: string; readonly principal: Principal },
  void
> = async (tx, { session_id, principal }) => {
  const { plan, checks } = await tx.db
    .updateTable("plan_runs")
    .set({ checks_accepted: 1 })
    .where("session_id", "=", session_id)
    .returning(["plan", "checks"])
    .executeTakeFirstOrThrow(() => new RepriseError("run_missing", "This session runs no plan."));
  const subject = acceptedHash(plan, checks ?? "");
  await recordConsent(tx, { session_id, kind: "run", subject, who: consenterOf(principal) });
};

interface NewRun {
  readonly session_id: string;
  readonly project_key: string;
  readonly run_id: string;
  readonly number: number;
  readonly plan: string;
  readonly path: string | null;
  readonly checks: PlanChecks | null;
  readonly checks_accepted: number;
  readonly options: RunOptions;
}

/** Stores the row of a run. False if the project has a run of this id and number. */
export async function insertRun(tx: Tx, { options, checks, ...run }: NewRun): Promise<boolean> {
  const inserted = await tx.db
    .insertInto("plan_runs")
    .values({
      ...run,
      plan_hash: createHash("sha256").update(run.plan).digest("hex"),
      checks: checks === null ? null : JSON.stringify(checks),
      options: JSON.stringify(options),
    })
    .onConflict((conflict) => conflict.columns(["project_key", "run_id", "number"]).doNothing())
    .returning("session_id")
    .executeTakeFirst();
  return inserted !== undefined;
}

/** Error codes: `run_exists`. */
async function nextNumber(
  tx: Tx,
  project_key: string,
  { run_id, again }: Pick<CreateRun, "run_id" | "again">,
): Promise<number> {
  const last = await lastRun(tx, { project_key, run_id });
  if (last === null) {
    return 1;
  }
  const current = (await readCurrent(tx, [last.session_id])).get(last.session_id);
  const hasEnded = current !== undefined && isFinal(current.state);
  if (!again || !hasEnded) {
    const why = `session ${last.session_id} ${hasEnded ? "has run" : "runs"} it`;
    throw runExists(why, hasEnded);
  }
  return last.number + 1;
}

/** The last run of a plan in a project; null for none. */
export async function lastRun(
  tx: Tx,
  { project_key, run_id }: { readonly project_key: string; readonly run_id: string },
) {
  const row = await tx.db
    .selectFrom("plan_runs")
    .select(["session_id", "number"])
    .where("project_key", "=", project_key)
    .where("run_id", "=", run_id)
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

function runExists(why: string, hasEnded = false): RepriseError {
  const then = hasEnded
    ? "Run it once more with --again."
    : "Continue it with `reprise plan resume`.";
  return new RepriseError("run_exists", `A run of this plan is there: ${why}. ${then}`);
}
