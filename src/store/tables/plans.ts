import type { Generated } from "kysely";

import type { PhaseState } from "../../core/plan-runs.ts";
import type { ChangeNumber } from "./changes.ts";

/** Plans that are run, with the run's session. How the run is, its exchanges say. */
export interface PlanTables {
  plan_runs: PlanRunTable;
  plan_phases: PlanPhaseTable;
}

export interface PlanRunTable {
  session_id: string;
  /** Project of the session, or its folder: run ids are compared in it. */
  project_key: string;
  run_id: string;
  /** From 1: how often the plan was begun here. No export has it. */
  number: number;
  /** The plan as it was when the run began, as JSON: a later change of its file counts for nothing. */
  plan: string;
  /** SHA-256 of `plan` in hexadecimal digits. */
  plan_hash: string;
  /** File of the plan; only shown. Null for standard input. */
  path: string | null;
  /** JSON of PlanChecks, as they were when the run began; null without checks. */
  checks: string | null;
  /** 1 if a person of this database let the checks be run. No export has it. */
  checks_accepted: number;
  /** JSON of RunOptions. */
  options: string;
}

/** A phase of a run. Each of its attempts is a sub-agent, whose session has the call id `phase:<key>:<attempt>`. */
export interface PlanPhaseTable {
  session_id: string;
  key: string;
  /** From 0, in the order of the plan. */
  position: number;
  state: PhaseState;
  /** From 1. */
  attempt: number;
  /** Attempt that a person approved last; 0 for none. */
  approved: number;
  /** SHA-256 of the artifact that the attempt has handed in, in hexadecimal digits. */
  artifact_hash: string | null;
  /** JSON of PhaseChecked: the last run of its checks, which may be of an earlier attempt. */
  checked: string | null;
  /** Reason for which the last attempt failed or was refused. */
  error_code: string | null;
  error_sentence: string | null;
  /** When the attempt began, and when the phase was done, failed or refused. */
  begun_at: string | null;
  ended_at: string | null;
  changed: Generated<ChangeNumber>;
}
