/** Stored states of a phase of a run; what else is shown of it follows from them: see `shownPhases`. */
export const PHASE_STATES = [
  "waiting",
  "approval",
  "running",
  "done",
  "failed",
  "refused",
] as const;
export type PhaseState = (typeof PHASE_STATES)[number];

/** States of a phase as a person sees it. */
export const SHOWN_PHASES = [...PHASE_STATES, "ready", "blocked", "asking", "interrupted"] as const;
export type ShownPhase = (typeof SHOWN_PHASES)[number];

/** Options of a run. */
export interface RunOptions {
  /** Phases that run at once, at most. */
  readonly parallel: number;
  /** Further attempts of a phase that failed. */
  readonly retries: number;
  /** Keys of the phases of which each attempt begins only after a person has approved it. */
  readonly approve: readonly string[];
}

/** Name of the agent of a run's session. No other agent may have it. */
export const PLAN_AGENT = "plan";

/** Phases that may run at once. */
export const MAX_PARALLEL = 8;
/** Further attempts that a phase may have. */
export const MAX_RETRIES = 9;
/** Characters of a phase's key: the ids of its calls, such as `approval:<key>:<attempt>`, have 255 at most. */
export const MAX_PHASE_KEY = 200;
/** Keys of phases that a request may name. */
export const MAX_PHASE_KEYS = 1000;
/** Changed paths of a phase that are listed. */
export const MAX_PHASE_FILES = 100;
/** UTF-16 units of the last action of a phase that are shown. */
export const MAX_ACTION = 200;
/** Messages in a run's session that are listed, and the code points of each. */
export const MAX_UNREAD = { messages: 20, length: 200 } as const;
/** UTF-8 bytes of a dependency's answer that the phase after it gets. */
export const MATERIAL_BYTES = 8 * 1024;

/** Commands that decide whether phases are done, each a program with its arguments: `reprise/plan-checks@1`. */
export interface PlanChecks {
  readonly phases?: Readonly<Record<string, PhaseChecks>>;
  /** Checks of every phase, after its own. */
  readonly all?: readonly Argv[];
}

export interface PhaseChecks {
  /** Run before the checks. */
  readonly setup?: readonly Argv[];
  readonly checks: readonly Argv[];
}

export type Argv = readonly string[];

/** A command of a phase's checks that was run, how it ended, and how long it took. */
export interface CheckResult {
  readonly argv: Argv;
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly ms: number;
  /** How it did not pass, such as `exit code 1`; null if it passed. */
  readonly failure: string | null;
}

/** The last run of the checks of a phase: all of them passed, or the last one did not. */
export interface PhaseChecked {
  /** Attempt that they were run for. */
  readonly attempt: number;
  /** Messages about what its result lacked that the sub-agent had got before. */
  readonly corrections: number;
  /** SHA-256 of the artifact on the disk that they were run for; null for a phase that leaves none. */
  readonly artifact_hash: string | null;
  readonly commands: readonly CheckResult[];
}

/** Time that a check may take. */
export const CHECK_TIMEOUT_MS = 10 * 60_000;

/** Returns the commands that are run for a phase, in their order: its setup, its checks and those of all phases. */
export function commandsOfPhase(checks: PlanChecks | null, key: string): readonly Argv[] {
  const own = checks?.phases?.[key];
  return [...(own?.setup ?? []), ...(own?.checks ?? []), ...(checks?.all ?? [])];
}

/** Returns the id of the call that runs a command of a phase's checks. */
export function checkCallId(
  { key, attempt }: { readonly key: string; readonly attempt: number },
  index: number,
): string {
  return `check:${key}:${attempt}:${index}`;
}

/** Messages that a sub-agent gets at most about what its result lacks. */
export const MAX_CORRECTIONS = 2;

/** Returns the id of the call whose sub-agent works on an attempt of a phase. No tool's call has a colon in its id here. */
export function phaseCallId(key: string, attempt: number): string {
  return `phase:${key}:${attempt}`;
}

/** Returns the id of the call for the question whether an attempt of a phase may begin. */
export function approvalCallId({
  key,
  attempt,
}: {
  readonly key: string;
  readonly attempt: number;
}): string {
  return `approval:${key}:${attempt}`;
}

/** Returns the attempt of a phase that an id of `phaseCallId` or `approvalCallId` names; null for another id. */
export function attemptOfCall(
  id: string | null,
  kind: "phase" | "approval" = "phase",
): { readonly key: string; readonly attempt: number } | null {
  const [, found, key, attempt] =
    /^(phase|approval):([a-z][a-z0-9-]*):([0-9]+)$/.exec(id ?? "") ?? [];
  return key === undefined || found !== kind ? null : { key, attempt: Number(attempt) };
}
