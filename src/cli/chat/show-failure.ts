import { type ErrorCode, isRepriseError, RepriseError } from "../../core/errors.ts";
import type { Conversation } from "../../exchange/conversation.ts";
import { isPassing } from "../../exchange/exchange-failure.ts";
import { noticeLine } from "../process/context.ts";
import { showError } from "../process/show-error.ts";
import { resetOf, shownReset, whyNoWait } from "./limit-wait.ts";
import type { Talk } from "./talk.ts";

/** Facts about a failure that a command acts on. */
export interface ShownFailure {
  readonly exitCode: number;
  /** True if the exchange is continued with `--continue-exchange` alone. */
  readonly canContinue: boolean;
}

/** Shows what went wrong in a conversation, with what helps there. */
export async function showFailure(talk: Talk, error: unknown): Promise<ShownFailure> {
  const { cli, conversation, json } = talk;
  const isTerminal = cli.stdin.isTTY === true && !json;
  const step = isPassing(error)
    ? await stepAfterLoss(conversation)
    : await stepAfterFailure(conversation, error);
  const resetsAt = step === null ? null : resetOf(error);
  const waits = resetsAt !== null && whyNoWait(resetsAt) === null;
  const whole =
    isRepriseError(error) && step !== null && !isTerminal
      ? new RepriseError(
          error.code,
          `${error.message} ${step.command}${waits ? ` ${WAIT.command}` : ""}`,
          { cause: error.cause },
        )
      : error;
  const exitCode = showError(cli, whole, json, conversation.current()?.id);
  if (isTerminal && step !== null) {
    noticeLine(cli, step.terminal);
    if (resetsAt !== null) {
      const when = `The limit resets at ${shownReset(resetsAt)}`;
      noticeLine(cli, waits ? `${when}; ${WAIT.terminal}` : `${when}.`);
    }
  }
  if (isRepriseError(error, "session_busy") && cli.stdin.isTTY !== true && !json) {
    noticeLine(cli, "Use --wait to wait until it is done, or --take-over to stop it.");
  }
  return { exitCode, canContinue: step?.canContinue === true };
}

/** An exchange that the database or this process prevents has not failed. */
async function stepAfterLoss(conversation: Conversation): Promise<NextStep | null> {
  const isOpen = await conversation.isOpen();
  if (isOpen === null) {
    return CONTINUE_BEGUN;
  }
  return isOpen ? CONTINUE : null;
}

/** Nothing may wait: what failed may have been `/compact`. */
async function stepAfterFailure(
  conversation: Conversation,
  error: unknown,
): Promise<NextStep | null> {
  const known = isRepriseError(error) && !error.is_lasting ? NEXT_STEPS[error.code] : undefined;
  return known !== undefined && (await conversation.hasFailed()) ? known : null;
}

/** Advice after a failure, in a session of a terminal and for a command that ran once. */
interface NextStep {
  readonly terminal: string;
  readonly command: string;
  /** Whether `--continue-exchange` needs no other option. */
  readonly canContinue?: true;
}

/** Sent again, the message would be stored twice. */
const RETRY: NextStep = {
  terminal: "The message is stored; /retry asks for its answer again.",
  command: "The message is stored; --continue-exchange asks for its answer again.",
  canContinue: true,
};

/** For a limit that is over at a known time. */
const WAIT: NextStep = {
  terminal: "/continue when-reset waits until then and asks again.",
  command: "With --when-limited wait, it waits for the end of the limit.",
};

const CONTINUE: NextStep = {
  terminal: "/continue resumes it.",
  command: "--continue-exchange resumes it.",
  canContinue: true,
};

const CONTINUE_BEGUN: NextStep = {
  terminal: "If the exchange had begun, /continue resumes it.",
  command: "If the exchange had begun, --continue-exchange resumes it.",
};

const NEXT_STEPS: Partial<Record<ErrorCode, NextStep>> = {
  model_unauthorized: RETRY,
  model_unreachable: RETRY,
  model_rate_limited: RETRY,
  model_failed: RETRY,
  agent_failed: {
    ...RETRY,
    // a module that was changed is loaded by a new process only
    terminal: `${RETRY.terminal} If you change the agent's code, leave and resume the session first.`,
  },
  model_context_full: {
    terminal: "The message is stored; /clear begins a fresh context, /model chooses another model.",
    command: "The message is stored; send it again with --model, to a model with a larger context.",
  },
  model_refused: {
    terminal:
      "The message is stored; /switch to another model and /retry, or send another message.",
    command:
      "The message is stored; --switch with --continue-exchange lets another model answer it.",
  },
  answer_cut: {
    terminal: "The text so far is stored; /continue lets the model write the rest.",
    command: "The text so far is stored; --continue-exchange lets the model write the rest.",
    canContinue: true,
  },
  call_limit_reached: CONTINUE,
  budget_reached: CONTINUE,
  price_limit_reached: CONTINUE,
};
