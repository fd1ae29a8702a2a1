import { createHash } from "node:crypto";

import {
  approvalCallId,
  attemptOfCall,
  commandsOfPhase,
  phaseCallId,
  type PlanChecks,
  type RunOptions,
  type CheckResult,
  type PhaseChecked,
} from "../../core/plan-runs.ts";
import type { ExchangeState } from "../../core/exchanges.ts";
import { runReport } from "../../core/text/run-report.ts";
import { storableText } from "../../core/text/text.ts";
import { phasesOfPlan, type StoredPlanPhase } from "../records/plans/plan-phases.ts";
import { about, type Difference } from "./difference.ts";
import { type AttemptExchange, optionsOf, type RunRecord } from "./run-record.ts";

type PhaseRow = RunRecord["phases"][number];

/** A phase as planned and as stored, with the exchanges of the sub-agent of its attempt. */
interface CheckedPhase {
  readonly planned: StoredPlanPhase;
  readonly row: PhaseRow;
  /** An entry without a number for a sub-agent that has no exchange; none without a sub-agent. */
  readonly exchanges: readonly AttemptExchange[];
  /** Null without checks. */
  readonly checks: PlanChecks | null;
}

/** The last exchange of a run's session; null before it begins. */
export interface LastExchange {
  readonly state: ExchangeState;
  readonly error_code: string | null;
}

/** Returns what no run leaves like that; see PLANRUN-90 to PLANRUN-96. */
export function runFindings(record: RunRecord, last: LastExchange | null): Difference[] {
  const { run, phases, exchanges } = record;
  const planned = phasesOfPlan(run.plan);
  const options = optionsOf(run);
  if (createHash("sha256").update(run.plan).digest("hex") !== run.plan_hash) {
    return [wrong("The plan of the run is not the one that it began with.")];
  }
  if (planned === null || options === null || !isInOrder(planned, phases)) {
    return [wrong("The phases of the run are not those of its plan, in its order.")];
  }
  const checks = readJson(run.checks) as PlanChecks | null;
  const byCall = Map.groupBy(exchanges, ({ call_id }) => call_id);
  const rows = new Map(phases.map((row) => [row.key, row]));
  const checked = planned.flatMap((each): CheckedPhase[] => {
    const row = rows.get(each.key);
    const own = row === undefined ? [] : byCall.get(phaseCallId(row.key, row.attempt));
    return row === undefined ? [] : [{ planned: each, row, exchanges: own ?? [], checks }];
  });
  return [
    ...attemptFindings(phases, byCall.keys()),
    ...checked.flatMap((phase) => childFindings(phase)),
    ...timeFindings(checked),
    ...checked.flatMap((phase) => doneFindings(phase)),
    ...slotFindings(checked, options, record),
    ...endFindings(checked, last, record.report),
    ...checked.flatMap((phase) => approvalFindings(phase, options, record)),
  ];
}

function wrong(sentence: string): Difference {
  return about("run", sentence);
}

function isInOrder(planned: readonly StoredPlanPhase[], phases: readonly PhaseRow[]): boolean {
  return (
    planned.length === phases.length &&
    phases.every(({ key, position }, index) => position === index && planned[index]?.key === key)
  );
}

/** Each sub-agent of a run works on an attempt that was begun. */
function attemptFindings(phases: readonly PhaseRow[], calls: Iterable<string>): Difference[] {
  const attempts = new Map(phases.map(({ key, attempt }) => [key, attempt]));
  return [...calls].flatMap((call) => {
    const { key = "", attempt = 0 } = attemptOfCall(call) ?? {};
    return attempt >= 1 && attempt <= (attempts.get(key) ?? 0)
      ? []
      : [wrong("A sub-agent of the run works on no attempt of a phase.")];
  });
}

function childFindings({ row, exchanges }: CheckedPhase): Difference[] {
  return row.state === "done" && exchanges.length === 0
    ? [wrong(`Phase ${row.key} is done, and attempt ${row.attempt} has no sub-agent.`)]
    : [];
}

const BEGUN: readonly string[] = ["running", "done", "failed"];
const ENDED: readonly string[] = ["done", "failed", "refused"];

/** A phase begins once all that it depends on have ended. */
function timeFindings(phases: readonly CheckedPhase[]): Difference[] {
  const rows = new Map(phases.map(({ row }) => [row.key, row]));
  return phases.flatMap(({ row, planned }) => {
    const { key, state, begun_at, ended_at } = row;
    const isPast = begun_at !== null || BEGUN.includes(state) || state === "approval";
    const early = [...new Set(planned.depends_on)].filter((each) => {
      const before = rows.get(each);
      const isDone = before?.state === "done" && before.ended_at !== null;
      return isPast && !(isDone && (begun_at === null || begun_at >= (before.ended_at ?? "")));
    });
    const hasTimes =
      (begun_at !== null || !BEGUN.includes(state)) &&
      (ended_at !== null || !ENDED.includes(state)) &&
      (begun_at === null || ended_at === null || ended_at >= begun_at);
    return [
      ...early.map((each) =>
        wrong(`Phase ${key} began before phase ${each}, on which it depends, was done.`),
      ),
      ...(hasTimes ? [] : [wrong(`The times of phase ${key} do not fit its state ${state}.`)]),
    ];
  });
}

function doneFindings(phase: CheckedPhase): Difference[] {
  const { row, planned, exchanges } = phase;
  const { key, artifact_hash: hash } = row;
  const expects = planned.expected_artifact !== undefined;
  const isDone = row.state === "done";
  const findings: Difference[] = [];
  if (isDone && exchanges.length > 0 && decisive(phase)?.state !== "done") {
    findings.push(wrong(`Phase ${key} is done, and the exchange of its sub-agent is not.`));
  }
  if ((isDone && expects && hash === null) || (!expects && hash !== null)) {
    const sentence = expects
      ? "is done without its artifact"
      : "has an artifact that is not in its plan";
    findings.push(wrong(`Phase ${key} ${sentence}.`));
  }
  if (isDone && !hasPassed(phase)) {
    findings.push(
      wrong(`Phase ${key} is done, and its checks have not all passed for its artifact.`),
    );
  }
  return findings;
}

/** The exchange that decided about a phase: a person may continue the sub-agent's session later. */
function decisive({ row, exchanges }: CheckedPhase): AttemptExchange | undefined {
  const { ended_at } = row;
  return exchanges.findLast(
    ({ begun_at }) => begun_at !== null && (ended_at === null || begun_at <= ended_at),
  );
}

function hasPassed({ row, checks }: CheckedPhase): boolean {
  const commands = commandsOfPhase(checks, row.key);
  if (commands.length === 0) {
    return true;
  }
  const checked = readJson(row.checked) as Partial<PhaseChecked> | null;
  const commandsRun: readonly (Partial<CheckResult> | null)[] = Array.isArray(checked?.commands)
    ? checked.commands
    : [];
  return (
    checked?.attempt === row.attempt &&
    checked.artifact_hash === row.artifact_hash &&
    JSON.stringify(commandsRun.map((each) => each?.argv)) === JSON.stringify(commands) &&
    commandsRun.every((each) => each?.code === 0 && each.failure === null)
  );
}

/** A text that cannot be read counts as none. */
function readJson(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

/** Only one phase at a time changes files, and no process runs more sub-agents than it has slots. */
function slotFindings(
  phases: readonly CheckedPhase[],
  { parallel }: RunOptions,
  { writers }: RunRecord,
): Difference[] {
  const held = phases.filter(({ exchanges }) => exchanges.some(({ isHeld }) => isHeld));
  const wrote = phases
    .filter(
      ({ row, checks }) =>
        row.begun_at !== null &&
        BEGUN.includes(row.state) &&
        (commandsOfPhase(checks, row.key).length > 0 ||
          writers.has(phaseCallId(row.key, row.attempt))),
    )
    .map(({ row }) => row)
    .toSorted((one, other) => ((one.begun_at ?? "") < (other.begun_at ?? "") ? -1 : 1));
  const findings: Difference[] = [];
  if (held.length > parallel) {
    findings.push(wrong(`More phases run at once than ${parallel}, as the run's options permit.`));
  }
  for (const [index, row] of wrote.entries()) {
    const before = wrote[index - 1];
    if (before !== undefined && isLater(before, row.begun_at ?? "")) {
      findings.push(
        wrong(`Phases ${before.key} and ${row.key} ran at the same time, and both change files.`),
      );
    }
  }
  return findings;
}

function isLater({ state, ended_at }: PhaseRow, time: string): boolean {
  return state === "running" || ended_at === null || ended_at > time;
}

/** The exchange of a run is done exactly when its phases are. */
function endFindings(
  phases: readonly CheckedPhase[],
  last: LastExchange | null,
  report: string | null,
): Difference[] {
  const open = phases.find(({ row }) => row.state !== "done");
  if (last?.state === "done") {
    if (open !== undefined) {
      return [wrong(`The run is done, and phase ${open.row.key} is not.`)];
    }
    const attempts = new Map(phases.map(({ row }) => [row.key, row.attempt]));
    const expected = runReport(
      phases.map(({ planned }) => planned),
      attempts,
    );
    return report === storableText(expected)
      ? []
      : [wrong("The last message of the run is not the report of its phases.")];
  }
  const isOver = last?.state === "waiting" || last?.error_code === "phase_failed";
  return isOver && open === undefined
    ? [wrong("Every phase of the run is done, and its exchange ended with one that is not.")]
    : [];
}

/** An attempt that a person has to approve begins with that approval. One of another database counts only for what ran there. */
function approvalFindings(
  { row, exchanges }: CheckedPhase,
  { approve }: RunOptions,
  { approvals }: RunRecord,
): Difference[] {
  const { key, attempt, state, approved } = row;
  if (!approve.includes(key) || !BEGUN.includes(state)) {
    return [];
  }
  const call = approvalCallId({ key, attempt });
  const last = approvals.findLast(({ call_id }) => call_id === call);
  // an import sets no lease; the first exchange here does
  const ranHere = exchanges.some(({ epoch }) => epoch !== null && epoch > 0);
  const isApproved =
    approved === attempt &&
    last?.state === "answered" &&
    last.answer === "approve" &&
    (last.answered_here === 1 || !ranHere);
  return isApproved
    ? []
    : [wrong(`Phase ${key} began attempt ${attempt} without the approval of a person here.`)];
}
