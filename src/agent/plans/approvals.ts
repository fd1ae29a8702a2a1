import { approvalMove, approvalQuestion, isApproved } from "../../plans/approvals.ts";
import { phaseOf } from "../../plans/plan-of-run.ts";
import { askApproval, movePhases } from "../../store/records/plans/approvals.ts";
import { readPhases, type StoredPhase } from "../../store/records/plans/phases.ts";
import { shownHash } from "../../store/records/questions/ask.ts";
import { readAskedInThread } from "../../store/records/questions/read.ts";
import { isShown } from "../permit/shown-question.ts";
import type { RunContext } from "./run-context.ts";

/** Asks people whether phases may begin, and takes their answers. */
export class Approvals {
  readonly #context: RunContext;

  constructor(context: RunContext) {
    this.#context = context;
  }

  /** Reads the phases after storing what people decided about them. */
  async settled(): Promise<readonly StoredPhase[]> {
    const { store, run, thread, plan } = this.#context;
    const phases = await store.read(readPhases, run);
    const approve = new Set(run.options.approve);
    const asked = phases.filter(
      ({ key, state }) => approve.has(key) && ["waiting", "approval", "running"].includes(state),
    );
    if (asked.length === 0) {
      return phases;
    }
    const { id: session_id, thread_suffix } = thread.held.session;
    const questions = await store.read(readAskedInThread, {
      session_id,
      thread_suffix,
      kind: "approval",
    });
    const moves = asked.flatMap((row) => {
      const asking = approvalQuestion(phaseOf(plan, row), row);
      const hash = shownHash(asking);
      const move = approvalMove(
        row,
        questions,
        // an import may hold another text beside the hash
        (question) => question.shown_hash === hash && isShown(question, asking),
      );
      return move ?? [];
    });
    if (moves.length === 0) {
      return phases;
    }
    await store.write(movePhases, { fence: thread.held.fence, moves });
    return store.read(readPhases, run);
  }

  /** Asks about phases that nothing else keeps from beginning. */
  async ask(keys: readonly string[], phases: readonly StoredPhase[]): Promise<void> {
    const { store, thread, plan } = this.#context;
    const { fence, session } = thread.held;
    const { thread_suffix } = session;
    for (const row of phases.filter(({ key }) => keys.includes(key))) {
      const { key, attempt } = row;
      const asking = approvalQuestion(phaseOf(plan, row), row);
      await store.write(askApproval, { fence, thread_suffix, key, attempt, asking });
    }
  }

  isApproved(phase: StoredPhase): boolean {
    return isApproved(this.#context.run.options, phase);
  }
}
