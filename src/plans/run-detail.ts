import { shownSubject } from "../core/calls.ts";
import { costOf } from "../core/cost/cost-fields.ts";
import { totalUsage } from "../core/cost/model-calls.ts";
import { isRepriseError } from "../core/errors.ts";
import {
  attemptOfCall,
  MAX_ACTION,
  MAX_PHASE_FILES,
  type PhaseChecked,
  type ShownPhase,
} from "../core/plan-runs.ts";
import { APPROVAL_CHOICES } from "../core/questions.ts";
import type { RunDetail, RunPhase, RunSummary } from "../core/schemas/plan-run-schemas.ts";
import { type AttemptUse, readAttemptUse } from "../store/records/plans/attempt-use.ts";
import {
  type GivenApproval,
  readChecksConsent,
  readGivenApprovals,
} from "../store/records/plans/given-approvals.ts";
import { type LastMessage, readLastActions } from "../store/records/plans/last-actions.ts";
import type { StoredPhase } from "../store/records/plans/phases.ts";
import type { ListedRun } from "../store/records/plans/list-runs.ts";
import { readRun, readRunOf, type StoredRun } from "../store/records/plans/read-runs.ts";
import { readUnread } from "../store/records/plans/unread.ts";
import type { Operation } from "../store/store.ts";
import { phaseOf, planOf, type RunPlan } from "./plan-of-run.ts";
import { shownPhases } from "./schedule.ts";

/** Reads a run with all that is known of it. Error codes: as `readRun`. */
export const readRunDetail: Operation<{ readonly reference: string }, RunDetail> = async (
  tx,
  input,
) => {
  const run = await readRun(tx, input);
  const known = await readKnown(tx, run);
  const { path, options, checks, exchange } = run;
  return {
    ...runSummary(run),
    path,
    plan: planOf(run),
    checks,
    checks_consent: checks === null ? null : await readChecksConsent(tx, run),
    options,
    exchange,
    phases: runPhases(run, known),
    unread: await readUnread(tx, run),
  };
};

/** Reads the phases of a run in the order of its plan; none if it is gone. */
export const readRunPhases: Operation<
  { readonly session_id: string },
  readonly RunPhase[]
> = async (tx, input) => {
  try {
    const run = await readRunOf(tx, input);
    return runPhases(run, await readKnown(tx, run));
  } catch (error) {
    if (isRepriseError(error, "run_missing", "session_not_found")) {
      return [];
    }
    throw error;
  }
};

/** Returns the fields of a run that a list shows. */
export function runSummary(run: ListedRun): RunSummary {
  const { exchange, number, run_id, session_id, phases } = run;
  return {
    session_id,
    run_id,
    number,
    state: exchange?.state ?? "queued",
    phases_done: phases.filter(({ state }) => state === "done").length,
    phases_total: phases.length,
    asking: phases.filter(asksPeople).map(({ key }) => key),
  };
}

function asksPeople({ asks, state }: StoredPhase): boolean {
  return asks || state === "approval";
}

/** Facts about the attempts of a run's phases. */
interface KnownOfAttempts {
  readonly use: readonly AttemptUse[];
  readonly approvals: readonly GivenApproval[];
  readonly actions: readonly LastMessage[];
}

/** Reads them with as many statements for many phases as for one. */
const readKnown: Operation<{ readonly session_id: string }, KnownOfAttempts> = async (
  tx,
  input,
) => ({
  use: await readAttemptUse(tx, input),
  approvals: await readGivenApprovals(tx, input),
  actions: await readLastActions(tx, input),
});

/** Returns the phases of a run in the order of its plan. */
function runPhases(run: StoredRun, known: KnownOfAttempts): RunPhase[] {
  const plan = planOf(run);
  const use = byPhase(known.use, "phase");
  const approvals = byPhase(known.approvals, "approval");
  const actions = new Map(known.actions.map((message) => [message.id, message]));
  const shown = shownOf(run, plan);
  return run.phases.map((row): RunPhase => {
    const { title, role, depends_on = [], expected_artifact: artifact } = phaseOf(plan, row);
    const { key, state, attempt, child, error_code, error_sentence, begun_at, ended_at } = row;
    return {
      key,
      title,
      role,
      depends_on,
      state,
      shown: shown.get(key) ?? state,
      attempt,
      session_id: child,
      ...usedBy(use.get(key) ?? []),
      artifact: artifact === undefined ? null : { ...artifact, hash: row.artifact_hash },
      checked: checkedIn(row),
      last_action: actionOf(actions.get(child ?? "")),
      approvals: decisionsIn(approvals.get(key) ?? []),
      error: error_code === null ? null : { code: error_code, sentence: error_sentence ?? "" },
      begun_at,
      ended_at,
    };
  });
}

function shownOf({ phases, exchange }: StoredRun, plan: RunPlan): ReadonlyMap<string, ShownPhase> {
  const rows = phases.map((row) => ({
    ...row,
    depends_on: phaseOf(plan, row).depends_on ?? [],
  }));
  return shownPhases(rows, exchange?.state === "running");
}

type UsedBy = Pick<RunPhase, "model" | "usage" | "cost_micros" | "files" | "files_changed">;

/** Returns facts about attempts by the keys of their phases, those of an earlier attempt first. */
function byPhase<Fact extends { readonly call_id: string }>(
  facts: readonly Fact[],
  kind: "phase" | "approval",
): ReadonlyMap<string, readonly OfAttempt<Fact>[]> {
  const named = facts.flatMap((fact) => {
    const attempt = attemptOfCall(fact.call_id, kind);
    return attempt === null ? [] : [{ ...fact, ...attempt }];
  });
  return Map.groupBy(
    named.toSorted((one, other) => one.attempt - other.attempt),
    ({ key }) => key,
  );
}

type OfAttempt<Fact> = Fact & { readonly attempt: number };

/** Sums the attempts of a phase up. */
function usedBy(begun: readonly OfAttempt<AttemptUse>[]): UsedBy {
  const files = new Map<string, boolean>();
  for (const { path, undone } of begun.flatMap((attempt) => attempt.files)) {
    files.set(path, undone && (files.get(path) ?? true));
  }
  const listed = [...files].map(([path, undone]) => ({ path, undone }));
  return {
    model: begun.findLast(({ model }) => model !== null)?.model ?? null,
    ...costOf(totalUsage(begun.map(({ usage }) => usage))),
    files: listed
      .toSorted((one, other) => (one.path < other.path ? -1 : 1))
      .slice(0, MAX_PHASE_FILES),
    files_changed: files.size,
  };
}

function checkedIn({ checked }: StoredPhase): PhaseChecked | null {
  return checked === null ? null : (JSON.parse(checked) as PhaseChecked);
}

/** The last call of a message, or its text; null for neither. */
function actionOf(message: LastMessage | undefined): RunPhase["last_action"] {
  const call = message?.tool_calls.at(-1);
  const kind = call === undefined ? "message" : "call";
  const text = call === undefined ? message?.content : `${call.name} ${call.subject ?? ""}`;
  const shown =
    shownSubject(text ?? "")
      ?.slice(0, MAX_ACTION)
      .toWellFormed() ?? null;
  return message === undefined || shown === null ? null : { kind, text: shown, at: message.ts };
}

function decisionsIn(given: readonly OfAttempt<GivenApproval>[]): RunPhase["approvals"] {
  return given.flatMap(({ attempt, answer, note, who, is_own, answered_by, answered_at }) => {
    const choice = APPROVAL_CHOICES.find((each) => each === answer);
    return choice === undefined
      ? []
      : [{ attempt, answer: choice, note, by: answered_by, who, at: answered_at, counts: is_own }];
  });
}
