import { setTimeout as sleep } from "node:timers/promises";

import { AIMessage } from "@langchain/core/messages";
import { interrupt } from "@langchain/langgraph";

import { isRepriseError, RepriseError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { runReport } from "../../core/text/run-report.ts";
import { phaseOf } from "../../plans/plan-of-run.ts";
import { mayWrite } from "../../plans/roles.ts";
import { schedule, type ScheduledPhase } from "../../plans/schedule.ts";
import { loadPersona } from "../../rules/personas/load.ts";
import { beginPhase, readPhases, type StoredPhase } from "../../store/records/plans/phases.ts";
import type { Worker } from "../agent-graph.ts";
import { Approvals } from "./approvals.ts";
import { PhaseRunner } from "./phase-runner.ts";
import type { RunContext } from "./run-context.ts";

/** Time between two polls for an answer that lets a phase continue while others run. */
const POLL_MS = 1000;

/**
 * Answers in the graph of a run in place of a model: it runs the phases, and its answer is the report. Whatever was killed, it
 * begins from the stored phases. All phases have ended once `end` has.
 */
export class PlanWorker implements Worker {
  readonly tools = [];
  readonly #context: RunContext;
  readonly #stop = new AbortController();
  readonly #runner: PhaseRunner;
  readonly #approvals: Approvals;
  /** Running phases by their keys. None rejects. */
  readonly #active = new Map<string, Promise<void>>();
  /** Error that ends the whole run. */
  #failure: { readonly error: unknown } | null = null;
  readonly #writers = new Map<string, boolean>();
  /** Phases as they were reported, by their keys. */
  readonly #reported = new Map<string, string>();

  constructor(context: RunContext) {
    this.#context = context;
    const { live, thread } = context;
    const signal = AbortSignal.any([live.signal, thread.held.lost, this.#stop.signal]);
    this.#runner = new PhaseRunner(context, signal);
    this.#approvals = new Approvals(context);
    for (const phase of context.run.phases) {
      this.#reported.set(phase.key, reportOf(phase));
    }
  }

  answer: Worker["answer"] = async () => {
    const outcome = await this.#run();
    if (outcome === "waiting") {
      interrupt("a phase waits");
    }
    const phases = await this.#phases();
    if (outcome === "failed") {
      throw phaseFailed(phases);
    }
    const attempts = new Map(phases.map(({ key, attempt }) => [key, attempt]));
    const report = runReport(this.#context.plan.phases, attempts);
    // no model was asked
    const usage_metadata = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
    return {
      messages: [new AIMessage({ id: newId(), content: report, usage_metadata })],
      prefix: null,
    };
  };

  /** Stops what still runs, and waits for it. */
  async end(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#active.values());
  }

  async #run(): Promise<"done" | "failed" | "waiting"> {
    const { run, store, thread } = this.#context;
    const { parallel } = run.options;
    for (;;) {
      // before the rows: a phase that ends in between counts as active once more
      const active = new Set(this.#active.keys());
      if (this.#failure !== null) {
        throw this.#failure.error;
      }
      const phases = await this.#approvals.settled();
      phases.forEach((phase) => this.#report(phase));
      const scheduled = await Promise.all(phases.map((phase) => this.#scheduled(phase)));
      const { begin, ask, outcome } = schedule(scheduled, { parallel, active });
      if (outcome !== null) {
        return outcome;
      }
      for (const key of begin) {
        await store.write(beginPhase, { fence: thread.held.fence, key });
        for (const phase of phases.filter((each) => each.key === key)) {
          this.#report({ ...phase, state: "running" });
        }
        this.#begin(key, phases);
      }
      await this.#approvals.ask(ask, phases);
      if (this.#active.size > 0) {
        const isAsked = phases.some(({ asks, state }) => asks || state === "approval");
        await this.#next(isAsked || ask.length > 0);
      }
    }
  }

  /** Reports a phase once in each state. */
  #report(phase: StoredPhase): void {
    const { key, attempt, state, error_code, error_sentence } = phase;
    if (this.#reported.get(key) !== reportOf(phase)) {
      this.#reported.set(key, reportOf(phase));
      const error =
        error_code === null ? null : { code: error_code, sentence: error_sentence ?? "" };
      this.#context.report({ type: "phase", key, attempt, state, error });
    }
  }

  #begin(key: string, phases: readonly StoredPhase[]): void {
    const phase = phases.find((each) => each.key === key);
    if (phase !== undefined) {
      const running = this.#runner
        .run(phase, phases)
        .catch((error: unknown) => {
          this.#failure ??= { error };
        })
        .finally(() => this.#active.delete(key));
      this.#active.set(key, running);
    }
  }

  /** Waits until a phase has ended, or while one asks, until it may have been answered. */
  async #next(isAsked: boolean): Promise<void> {
    const polled = new AbortController();
    const { signal } = polled;
    const poll = isAsked ? [sleep(POLL_MS, undefined, { signal }).catch(() => undefined)] : [];
    await Promise.race([...this.#active.values(), ...poll]);
    polled.abort();
  }

  #phases(): Promise<readonly StoredPhase[]> {
    const { store, run } = this.#context;
    return store.read(readPhases, run);
  }

  async #scheduled(phase: StoredPhase): Promise<ScheduledPhase> {
    const { role, depends_on = [] } = phaseOf(this.#context.plan, phase);
    // checks are commands, too
    const hasChecks = this.#context.checks?.has(phase.key) === true;
    const isWriter = hasChecks || (await this.#isWriter(role));
    const isApproved = this.#approvals.isApproved(phase);
    return { ...phase, depends_on, isApproved, isWriter };
  }

  /** A role that cannot be loaded counts as one that writes: its attempt says what is wrong. */
  async #isWriter(role: string): Promise<boolean> {
    const { personas, run, tools } = this.#context;
    const known = this.#writers.get(role);
    if (known !== undefined) {
      return known;
    }
    const loading = loadPersona({ name: role, repoPath: run.session.repo_path, ...personas });
    const isWriter = await loading.then(
      (persona) => mayWrite(persona, tools),
      (error: unknown) => {
        if (!isRepriseError(error)) {
          throw error;
        }
        return true;
      },
    );
    this.#writers.set(role, isWriter);
    return isWriter;
  }
}

function reportOf({ attempt, state }: StoredPhase): string {
  return `${attempt} ${state}`;
}

/** Says which phases failed or were refused, and why the first of them, in the order of the plan. */
function phaseFailed(phases: readonly StoredPhase[]): RepriseError {
  const over = phases.filter(({ state }) => state === "failed" || state === "refused");
  const left = phases.filter(({ state }) => state === "waiting").length;
  const names = over.map(({ key, state }) => (state === "failed" ? key : `${key} (refused)`));
  const waiting = left === 0 ? "" : `Phases that depend on these were not begun: ${left}.`;
  const [first] = over;
  // the phase has it: what a provider wrote is not for everybody who may read the run's exchange
  const why = first?.error_code?.startsWith("model_") === true ? "" : (first?.error_sentence ?? "");
  const sentences = [
    `Of the plan's phases, these failed: ${names.join(", ")}.`,
    why,
    waiting,
    "Let them be tried again with `reprise plan retry`.",
  ];
  return new RepriseError("phase_failed", sentences.filter((text) => text !== "").join(" "));
}
