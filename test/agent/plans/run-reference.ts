import type { PhaseState } from "../../../src/core/plan-runs.ts";

/** Ways in which a sub-agent works on an attempt. */
export const BEHAVIOURS = ["ok", "ok", "ok", "writes", "fails", "asks", "asks-fails"] as const;
/** Ways of a sub-agent that has to leave an artifact. */
export const HANDING = ["ok", "ok", "corrects", "forgets", "never", "asks"] as const;
export type Behaviour = (typeof BEHAVIOURS)[number] | (typeof HANDING)[number];

export interface ReferencePhase {
  readonly key: string;
  readonly depends_on: readonly string[];
  readonly approves: boolean;
  readonly isWriter: boolean;
  readonly artifact: string | null;
  /** Ways of the first attempt, and of those after one and two failures. */
  readonly behaviours: readonly Behaviour[];
  state: PhaseState;
  attempt: number;
  /** Attempts that people have approved, and answered. */
  approved: number;
  answered: number;
  /** Reason of the last failure, as the next attempt learns it. */
  why: string;
}

/** Returns how a sub-agent works that has learned why an earlier attempt failed. */
export function behaviourOf({ behaviours }: ReferencePhase, why: string): Behaviour {
  const failed = /failed-(\d)/.exec(why)?.[1];
  return why === "" ? behaviours[0]! : (behaviours[Number(failed ?? 9)] ?? "ok");
}

/** A run as it has to be once nothing runs, whatever was killed, frozen or stopped on the way. */
export class RunReference {
  readonly phases: readonly ReferencePhase[];
  readonly #retries: number;

  constructor(phases: readonly ReferencePhase[], retries: number) {
    this.phases = phases;
    this.#retries = retries;
  }

  /** Returns how the exchange of the run ends. */
  settle(): "done" | "failed" | "waiting" {
    for (let before = ""; before !== this.toString();) {
      before = this.toString();
      this.phases.forEach((phase) => this.#step(phase));
    }
    const states = new Set(this.phases.map(({ state }) => state));
    const waits = states.has("running") || states.has("approval");
    return waits ? "waiting" : states.size === 1 && states.has("done") ? "done" : "failed";
  }

  #step(phase: ReferencePhase): void {
    const isReady = phase.depends_on.every((key) => this.of(key).state === "done");
    if (phase.state === "waiting" && isReady) {
      const isApproved = !phase.approves || phase.approved === phase.attempt;
      phase.state = isApproved ? "running" : "approval";
    }
    const behaviour = behaviourOf(phase, phase.why);
    const asks = behaviour.startsWith("asks") && phase.answered !== phase.attempt;
    if (phase.state === "running" && !asks) {
      if (behaviour === "never") {
        this.fail(phase, "never");
      } else if (behaviour.endsWith("fails")) {
        this.fail(phase, `failed-${Number(/\d/.exec(phase.why)?.[0] ?? 0) + 1}`);
      } else {
        phase.state = "done";
      }
    }
  }

  fail(phase: ReferencePhase, why: string): void {
    const isLast = phase.attempt > this.#retries;
    Object.assign(phase, isLast ? { why, state: "failed" } : { why, ...again(phase) });
  }

  decide(phase: ReferencePhase, approves: boolean): void {
    const { attempt: approved } = phase;
    Object.assign(
      phase,
      approves ? { state: "waiting", approved } : { state: "refused", why: "refused" },
    );
  }

  retry(): void {
    const over = this.phases.filter(({ state }) => state === "failed" || state === "refused");
    over.forEach((phase) => Object.assign(phase, again(phase)));
  }

  of(key: string): ReferencePhase {
    return this.phases.find((phase) => phase.key === key)!;
  }

  toString(): string {
    return this.phases.map(({ key, state, attempt }) => `${key} ${state} ${attempt}`).join(", ");
  }
}

function again({ attempt }: ReferencePhase) {
  return { state: "waiting", attempt: attempt + 1 };
}
