import { AsyncLocalStorage } from "node:async_hooks";

import { isRepriseError, type RepriseError } from "../../core/errors.ts";
import { MAX_CORRECTIONS, phaseCallId } from "../../core/plan-runs.ts";
import {
  type ChildEnd,
  lastAnswer,
  runChildExchange,
  runChildSession,
} from "../../exchange/child-session.ts";
import { failureOf, isLacking } from "../../exchange/exchange-failure.ts";
import { createExchangeTree, type ExchangeTree } from "../../exchange/exchange-tree.ts";
import type { Exchanger } from "../../exchange/exchanger.ts";
import { type Material, phaseMessage } from "../../plans/phase-message.ts";
import { phaseOf } from "../../plans/plan-of-run.ts";
import { readAttempt } from "../../store/records/plans/attempt.ts";
import { endPhase, type StoredPhase } from "../../store/records/plans/phases.ts";
import { endsExchange } from "../tools-node.ts";
import { lackOf } from "./phase-result.ts";
import type { RunContext } from "./run-context.ts";

/** Runs attempts of phases: each is a sub-agent with its own tree, and its end is stored before it is reported. */
export class PhaseRunner {
  readonly #context: RunContext;
  readonly #signal: AbortSignal;
  // inside the graph of the run, LangChain would send the sub-agent's text to the run's listeners
  readonly #outsideTheGraph = AsyncLocalStorage.snapshot();

  /** `signal` stops every phase. */
  constructor(context: RunContext, signal: AbortSignal) {
    this.#context = context;
    this.#signal = signal;
  }

  /**
   * Runs an attempt of a running phase, or continues it, until it has ended or waits for a person. Rejects with what ends
   * the whole run; every other failure is stored as that of the attempt.
   */
  async run(phase: StoredPhase, phases: readonly StoredPhase[]): Promise<void> {
    const { store, thread, run } = this.#context;
    const { key, attempt } = phase;
    const ended = await this.#attempt(phase, phases);
    if (ended.state === "waiting") {
      return;
    }
    const end = { fence: thread.held.fence, key, attempt };
    if (ended.state === "failed") {
      const state = attempt <= run.options.retries ? "waiting" : "failed";
      await store.write(endPhase, { ...end, state, error: ended.error });
    } else {
      await store.write(endPhase, { ...end, state: "done", error: null });
    }
  }

  async #attempt(phase: StoredPhase, phases: readonly StoredPhase[]): Promise<AttemptEnd> {
    try {
      const end = await this.#child(phase, phases);
      if (end.state !== "stopped") {
        return end;
      }
      this.#signal.throwIfAborted();
      return { state: "failed", error: STOPPED };
    } catch (error) {
      this.#signal.throwIfAborted();
      if (!isRepriseError(error) || endsRun(error)) {
        throw error;
      }
      return { state: "failed", error: failureOf(error) };
    }
  }

  /** Lets the sub-agent work until its result lacks nothing. */
  async #child(
    row: StoredPhase,
    phases: readonly StoredPhase[],
  ): Promise<AttemptEnd | { readonly state: "stopped" }> {
    const { store, personas, thread, plan, run, live, report, limits } = this.#context;
    const { held } = thread;
    const phase = phaseOf(plan, row);
    const tree = createExchangeTree(limits);
    const failure = row.error_sentence;
    const task = phaseMessage(phase, { material: await this.#material(row, phases), failure });
    const input = {
      store,
      personas,
      fence: held.fence,
      parent: held.session,
      parent_n: thread.record()?.n ?? null,
      callId: phaseCallId(row.key, row.attempt),
      persona: phase.role,
      task,
      model: run.session.model ?? "",
      fallback: this.#context.fallback,
      live: { ...live, signal: this.#signal },
      report,
    };
    let end = await this.#inTree(tree, (exchanger) => runChildSession({ ...input, exchanger }));
    while (end.state === "done") {
      if (phase.expected_artifact === undefined && this.#context.checks?.has(row.key) !== true) {
        return { state: "done" };
      }
      const attempt = await store.read(readAttempt, { session_id: run.session_id, ...row });
      const answered = { phase, row, attempt, signal: this.#signal };
      const lack = await this.#outsideTheGraph(lackOf, this.#context, answered);
      if (lack === null) {
        return { state: "done" };
      }
      if (attempt.prompts > MAX_CORRECTIONS) {
        return { state: "failed", error: lack };
      }
      this.#signal.throwIfAborted();
      const message = { id: attempt.child, text: lack.message };
      end = await this.#inTree(tree, (exchanger) =>
        runChildExchange({ ...input, exchanger }, message),
      );
    }
    return { state: end.state };
  }

  async #inTree(
    tree: ExchangeTree,
    run: (exchanger: Exchanger) => Promise<ChildEnd>,
  ): Promise<ChildEnd> {
    const end = await tree.runChild({
      parent: null,
      signal: this.#signal,
      onWait: () => {},
      run: (reservation) =>
        this.#outsideTheGraph(run, this.#context.openExchanger({ tree, reservation })),
    });
    return end ?? { state: "stopped" };
  }

  /** Reads the results of the phases that this one depends on. */
  async #material(row: StoredPhase, phases: readonly StoredPhase[]): Promise<readonly Material[]> {
    const { store, plan } = this.#context;
    const material: Material[] = [];
    for (const key of new Set(phaseOf(plan, row).depends_on)) {
      const child = phases.find((each) => each.key === key)?.child ?? null;
      const answer = child === null ? "" : await lastAnswer(store, child);
      material.push({ phase: phaseOf(plan, { key }), answer });
    }
    return material;
  }
}

type AttemptEnd =
  | { readonly state: "done" | "waiting" }
  | {
      readonly state: "failed";
      readonly error: { readonly code: string; readonly sentence: string };
    };

const STOPPED = { code: "stopped", sentence: "Somebody stopped the phase before it was done." };

/** True for an error after which no other phase would do better. */
function endsRun(error: RepriseError): boolean {
  return (
    endsExchange(error) ||
    isLacking(error) ||
    isRepriseError(
      error,
      "session_ended",
      "exchange_interrupted",
      "folder_missing",
      "folder_moved",
      "sandbox_missing",
    ) ||
    isRepriseError(error, "model_unauthorized", "model_unreachable", "model_rate_limited")
  );
}
