import type { PhaseState, ShownPhase } from "../core/plan-runs.ts";

/*
 *            begin                       the sub-agent's exchange is done
 *   waiting ───────> running ──────────────────────────────────────────> done
 *    ^ │ ^             │  the attempt failed, and the phase may be tried again
 *    │ │ ├─────────────┤
 *    │ │ │             └────────> failed
 *    │ │ └── retry ─────────────────┤
 *    │ │ ask                        │
 *    │ └───────> approval ──────> refused
 *    └── approve ───┘      refuse
 */

/** A phase as the scheduler sees it. */
export interface ScheduledPhase {
  readonly key: string;
  readonly depends_on: readonly string[];
  readonly state: PhaseState;
  /** True for a role that may change files: one such phase runs at a time. */
  readonly isWriter: boolean;
  /** True for a running phase that can do nothing before a person answers. */
  readonly asks: boolean;
  /** False for an attempt that a person has to approve before it begins. */
  readonly isApproved: boolean;
}

export interface Slots {
  /** Phases that run at once, at most. A phase that asks holds no slot. */
  readonly parallel: number;
  /** Keys of the phases that this process runs now, read before the phases were. */
  readonly active: ReadonlySet<string>;
}

export interface Scheduled {
  /** Keys of the phases to begin, or to begin again after their process died. */
  readonly begin: readonly string[];
  /** Keys of the phases that could begin if a person approves them. */
  readonly ask: readonly string[];
  /**
   * How the run ends for now: `waiting` if only a person can help, `failed` if what is left depends on a phase that
   * failed or was refused. Null while phases run.
   */
  readonly outcome: "done" | "failed" | "waiting" | null;
}

/**
 * Decides what a run does next: a pure function of the stored phases, so that any process that reads the same rows
 * decides the same. The order of the phases does not matter.
 */
export function schedule(
  phases: readonly ScheduledPhase[],
  { parallel, active }: Slots,
): Scheduled {
  const ordered = phases.toSorted((one, other) => (one.key < other.key ? -1 : 1));
  const done = new Set(keysIn(ordered, "done"));
  const running = ordered.filter(({ state }) => state === "running");
  let free = parallel - active.size;
  const hasWriter = running.some(({ isWriter }) => isWriter);
  let isWriting = running.some(({ key, isWriter }) => isWriter && active.has(key));
  const begin: string[] = [];
  const ask: string[] = [];
  for (const { key, asks, isWriter } of running) {
    // roles may become writers while their phases run
    if (free > 0 && !active.has(key) && !asks && !(isWriter && isWriting)) {
      begin.push(key);
      free -= 1;
      isWriting ||= isWriter;
    }
  }
  for (const { key, state, depends_on, isWriter, isApproved } of ordered) {
    const isReady = state === "waiting" && depends_on.every((each) => done.has(each));
    if (isReady && !isApproved) {
      ask.push(key);
    } else if (isReady && free > 0 && !(isWriter && (hasWriter || isWriting))) {
      begin.push(key);
      free -= 1;
      isWriting ||= isWriter;
    }
  }
  const isOver = active.size === 0 && begin.length === 0 && ask.length === 0;
  return { begin, ask, outcome: isOver ? outcomeOf(ordered) : null };
}

function outcomeOf(phases: readonly ScheduledPhase[]): NonNullable<Scheduled["outcome"]> {
  if (phases.some(({ state }) => state === "running" || state === "approval")) {
    return "waiting";
  }
  return phases.every(({ state }) => state === "done") ? "done" : "failed";
}

type ShownOf = Pick<ScheduledPhase, "key" | "depends_on" | "state" | "asks">;

/** Returns what a person is shown of each phase, by key. `isRunning` is false if no process runs the run. */
export function shownPhases(
  phases: readonly ShownOf[],
  isRunning: boolean,
): ReadonlyMap<string, ShownPhase> {
  const done = new Set(keysIn(phases, "done"));
  const stuck = stuckPhases(phases);
  const shown = ({ key, state, asks, depends_on }: ShownOf): ShownPhase => {
    if (state === "running") {
      return asks ? "asking" : isRunning ? "running" : "interrupted";
    }
    if (state !== "waiting") {
      return state;
    }
    if (stuck.has(key)) {
      return "blocked";
    }
    return depends_on.every((each) => done.has(each)) ? "ready" : "waiting";
  };
  return new Map(phases.map((phase) => [phase.key, shown(phase)]));
}

/** Keys of the phases that failed or were refused, and of those that depend on one, at whatever distance. */
function stuckPhases(phases: readonly ShownOf[]): ReadonlySet<string> {
  const dependents = new Map<string, string[]>();
  for (const { key, depends_on } of phases) {
    for (const each of depends_on) {
      dependents.set(each, [...(dependents.get(each) ?? []), key]);
    }
  }
  const stuck = new Set([...keysIn(phases, "failed"), ...keysIn(phases, "refused")]);
  for (const key of stuck) {
    for (const each of dependents.get(key) ?? []) {
      stuck.add(each);
    }
  }
  return stuck;
}

function keysIn(phases: readonly ShownOf[], wanted: PhaseState): readonly string[] {
  return phases.filter(({ state }) => state === wanted).map(({ key }) => key);
}
