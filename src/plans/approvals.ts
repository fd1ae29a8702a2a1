import type { Phase } from "../artifacts/plans/phase-plan.ts";
import { RepriseError } from "../core/errors.ts";
import { approvalCallId, type RunOptions } from "../core/plan-runs.ts";
import type { ApprovalChoice, Asking } from "../core/questions.ts";
import { cutToBytes } from "../core/text/cut-to-bytes.ts";
import { quote } from "../core/text/terminal-text.ts";
import { storableText } from "../core/text/text.ts";
import { approvalChoices } from "../core/text/words.ts";
import type { MovedPhase } from "../store/records/plans/approvals.ts";
import type { StoredPhase } from "../store/records/plans/phases.ts";
import type { readAskedInThread } from "../store/records/questions/read.ts";

/** UTF-8 bytes of each text of a phase that its question shows. */
const MAX_SHOWN = 4000;

const APPROVE: ApprovalChoice = "approve";
const REFUSE: ApprovalChoice = "refuse";

type Approved = Pick<StoredPhase, "key" | "attempt" | "approved">;

/**
 * Returns the keys of the phases that need approval, in the order of the plan. `all` means each phase.
 *
 * Error codes: `invalid_usage` for what is not the key of a phase.
 */
export function approvalKeys(
  phases: readonly Pick<Phase, "key">[],
  given: readonly string[],
): readonly string[] {
  const keys = phases.map(({ key }) => key);
  const unknown = given.find((each) => each !== "all" && !keys.includes(each));
  if (unknown !== undefined) {
    throw new RepriseError(
      "invalid_usage",
      `The plan has no phase ${quote(unknown)} to approve. Name one of its keys, or all.`,
    );
  }
  // a phase may have the key `all`
  const isAll = given.includes("all");
  return keys.filter((key) => isAll || given.includes(key));
}

/** Returns false for a phase whose attempt a person has to approve before it begins. */
export function isApproved({ approve }: RunOptions, { key, attempt, approved }: Approved): boolean {
  return approved === attempt || !approve.includes(key);
}

/** Returns what a person is asked about an attempt: only what is stored, so that each process asks the same. */
export function approvalQuestion(
  phase: Phase,
  { attempt, error_sentence }: Pick<StoredPhase, "attempt" | "error_sentence">,
): Asking {
  const { expected_artifact: artifact, depends_on = [] } = phase;
  const lines = [
    `Begin phase ${phase.key}${attempt === 1 ? "" : `, attempt ${attempt}`}?`,
    `Title: ${phase.title}`,
    `Role: ${phase.role}`,
    ...(depends_on.length === 0 ? [] : [`After: ${depends_on.join(", ")}`]),
    ...(artifact === undefined ? [] : [`Artifact: ${artifact.path}, ${artifact.schema}`]),
    ...(error_sentence === null ? [] : [`The attempt before: ${error_sentence}`]),
    `Instructions: ${phase.instructions}`,
  ];
  const text = lines.map((line) => shortened(line)).join("\n");
  return {
    kind: "approval",
    text: storableText(text),
    choices: approvalChoices(),
    permission: null,
  };
}

function shortened(text: string): string {
  const cut = cutToBytes(text, MAX_SHOWN);
  return cut.length < text.length ? `${cut}…` : cut;
}

export type AskedApproval = Awaited<ReturnType<typeof readAskedInThread>>[number];

/**
 * Returns the change of a phase that follows from what a person was asked about its attempt; null for none. An approval counts
 * if it was given in this database, and for what is asked; without one, an attempt that an import brought waits again.
 */
export function approvalMove(
  phase: StoredPhase,
  questions: readonly AskedApproval[],
  asks: (question: AskedApproval) => boolean,
): MovedPhase | null {
  const call_id = approvalCallId(phase);
  const last = questions.findLast((each) => each.call_id === call_id);
  const counts =
    last !== undefined &&
    asks(last) &&
    (last.state === "open" || (last.state === "answered" && last.answered_here === 1));
  const { key, attempt, state, approved } = phase;
  const move = { key, attempt, from: state } as const;
  if (!counts) {
    const isUnasked = state === "approval" || approved === attempt || state === "running";
    return isUnasked ? { ...move, to: "waiting", approved: 0, refused: null } : null;
  }
  if (state === "approval" && last.answer === APPROVE) {
    return { ...move, to: "waiting", approved: attempt, refused: null };
  }
  return state === "approval" && last.answer === REFUSE
    ? { ...move, to: "refused", approved: 0, refused: refusal(last.note) }
    : null;
}

function refusal(note: string | null): string {
  if (note === null || note === "") {
    return "A person refused to let it begin.";
  }
  // other sentences follow it
  const end = /[.!?…]$/.test(note) ? "" : ".";
  return `A person refused to let it begin: ${note}${end}`;
}
