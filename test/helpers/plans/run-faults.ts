import { createHash } from "node:crypto";

import type { PhasePlan } from "../../../src/artifacts/plans/phase-plan.ts";
import { approvalCallId, attemptOfCall, phaseCallId } from "../../../src/core/plan-runs.ts";
import { readRunOf } from "../../../src/store/records/plans/read-runs.ts";
import { readAskedInThread } from "../../../src/store/records/questions/read.ts";
import type { Operation, Tx } from "../../../src/store/store.ts";

/** The role of the plans of tests that may change files. */
const WRITER = "assistant";

/** Returns the invariants that the rows of a run break. */
export const runFaults: Operation<{ readonly session_id: string }, readonly string[]> = async (
  tx,
  { session_id },
) => {
  const run = await readRunOf(tx, { session_id });
  const plan = JSON.parse(run.plan) as PhasePlan;
  const rows = new Map(run.phases.map((row) => [row.key, row]));
  const faults: string[] = [];
  const holds = (isTrue: boolean, what: string): void => void (isTrue || faults.push(what));
  const keysOf = (phases: readonly { readonly key: string }[]) => phases.map(({ key }) => key);
  holds(createHash("sha256").update(run.plan).digest("hex") === run.plan_hash, "hash of the plan");
  holds(keysOf(run.phases).join() === keysOf(plan.phases).join(), "keys of the phases");
  const children = await childrenOf(tx, session_id);
  const calls = children.map(({ parent_call_id }) => parent_call_id);
  holds(new Set(calls).size === calls.length, `two sub-agents of one call: ${calls.join()}`);
  for (const call of calls) {
    const { key, attempt } = attemptOfCall(call) ?? { key: "", attempt: 0 };
    holds(attempt <= (rows.get(key)?.attempt ?? 0), `a sub-agent of no attempt: ${call}`);
  }
  const { thread_suffix } = run.session;
  const asked = await readAskedInThread(tx, { session_id, thread_suffix, kind: "approval" });
  for (const { key, depends_on = [], expected_artifact } of plan.phases) {
    const row = rows.get(key)!;
    if (row.state === "running" || row.state === "done") {
      for (const each of depends_on) {
        const before = rows.get(each);
        const isAfter = (row.begun_at ?? "") >= (before?.ended_at ?? "~");
        holds(before?.state === "done" && isAfter, `${key} has begun before ${each} was done`);
      }
      const last = asked.findLast(({ call_id }) => call_id === approvalCallId(row));
      const isApproved = last?.answer === "approve" && last.answered_here === 1;
      holds(isApproved || !run.options.approve.includes(key), `${key} was not approved`);
    }
    if (row.state === "done") {
      const call = phaseCallId(key, row.attempt);
      const child = children.find(({ parent_call_id }) => parent_call_id === call);
      holds(child?.last === "done", `the sub-agent of ${key} is ${child?.last}`);
      holds((row.artifact_hash !== null) === (expected_artifact !== undefined), `hash of ${key}`);
    }
  }
  const writing = plan.phases.filter(
    ({ key, role }) => role === WRITER && rows.get(key)?.state === "running",
  );
  holds(writing.length <= 1, `${writing.length} phases write`);
  const areDone = run.phases.every(({ state }) => state === "done");
  holds(areDone || run.exchange?.state !== "done", "done before its phases");
  return faults;
};

/** The sub-agents of a run, each with the state of its last exchange. */
function childrenOf({ db }: Tx, session_id: string) {
  return db
    .selectFrom("sessions")
    .select(({ selectFrom }) => [
      "parent_call_id",
      selectFrom("exchanges")
        .select("state")
        .whereRef("exchanges.session_id", "=", "sessions.id")
        .orderBy("n", "desc")
        .limit(1)
        .as("last"),
    ])
    .where("parent_session_id", "=", session_id)
    .execute();
}
