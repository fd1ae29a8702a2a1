import { type ErrorCode, isRepriseError, RepriseError } from "../../core/errors.ts";
import { noticeLine } from "../context.ts";
import { showError } from "../show-error.ts";
import type { Talk } from "./talk.ts";

/** Shows what went wrong in a conversation, with what helps there, and returns the exit code. */
export async function showFailure(talk: Talk, error: unknown): Promise<number> {
  const { cli, conversation, json } = talk;
  const isTerminal = cli.stdin.isTTY === true && !json;
  const known = isRepriseError(error) ? NEXT_STEPS[error.code] : undefined;
  // nothing may wait: what failed may have been `/compact`
  const step = known !== undefined && (await conversation.hasFailed()) ? known : null;
  const whole =
    isRepriseError(error) && step !== null && !isTerminal
      ? new RepriseError(error.code, `${error.message} ${step.command}`, { cause: error.cause })
      : error;
  const exitCode = showError(cli, whole, json, conversation.current()?.id);
  if (isTerminal && step !== null) {
    noticeLine(cli, step.terminal);
  }
  if (isRepriseError(error, "session_busy") && cli.stdin.isTTY !== true && !json) {
    noticeLine(cli, "Use --wait to wait until it is done, or --take-over to stop it.");
  }
  return exitCode;
}

/** What to do after a failure, in a session of a terminal and for a command that ran once. */
interface NextStep {
  readonly terminal: string;
  readonly command: string;
}

/** Sent again, the message would be stored twice. */
const RETRY: NextStep = {
  terminal: "The message is stored; /retry asks for its answer again.",
  command: "The message is stored; --continue-exchange asks for its answer again.",
};

const CONTINUE: NextStep = {
  terminal: "/continue resumes it.",
  command: "--continue-exchange resumes it.",
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
  call_limit_reached: CONTINUE,
  budget_reached: CONTINUE,
};
