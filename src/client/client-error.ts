import type { Candidate, ErrorCode, Fault } from "../core/errors.ts";

/** `unreachable`: no answer came. `bad_answer`: what came is not an answer of this API. */
export type ClientErrorCode = ErrorCode | "unreachable" | "bad_answer";

/** Why a call failed: the service's own problem, or that there was none to read. */
export class ClientError extends Error {
  override readonly name = "ClientError";
  readonly code: ClientErrorCode;
  /** The HTTP status; 0 without a response. */
  readonly status: number;
  readonly faults: readonly Fault[];
  readonly candidates: readonly Candidate[];
  /** Id of the question that has to be answered first, with `question_open`; else null. */
  readonly open_question: string | null;

  constructor(code: ClientErrorCode, message: string, details: ClientErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.faults = details.faults ?? [];
    this.candidates = details.candidates ?? [];
    this.open_question = details.open_question ?? null;
  }
}

export interface ClientErrorDetails {
  readonly status: number;
  readonly faults?: readonly Fault[] | undefined;
  readonly candidates?: readonly Candidate[] | undefined;
  readonly open_question?: string | undefined;
  readonly cause?: unknown;
}

/** Reads the problem that an answer holds. */
export async function errorOf(answer: Response): Promise<ClientError> {
  const { status } = answer;
  try {
    const problem = (await answer.json()) as ProblemBody;
    if (typeof problem.code === "string" && typeof problem.detail === "string") {
      return new ClientError(problem.code, problem.detail, { ...problem, status });
    }
    return badAnswer(status);
  } catch (cause) {
    return badAnswer(status, cause);
  }
}

type ProblemBody = Pick<ClientErrorDetails, "faults" | "candidates" | "open_question"> & {
  readonly code?: ErrorCode;
  readonly detail?: string;
};

export function badAnswer(status: number, cause?: unknown): ClientError {
  return new ClientError(
    "bad_answer",
    `The answer (status ${status}) is not one of Reprise; check the address.`,
    { status, cause },
  );
}
