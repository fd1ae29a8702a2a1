/**
 * What a person is asked: a question of the agent (`question`), whether a tool may do what it is about to do
 * (`permission`), whether the models may use more tokens (`limit`), or whether the agent may get messages that
 * came over HTTP without authentication (`messages`): for that one, no exchange waits.
 */
export const QUESTION_KINDS = ["question", "permission", "limit", "messages"] as const;
export type QuestionKind = (typeof QUESTION_KINDS)[number];

/** The answers to the question whether the agent may get messages. */
export const ADMISSION_CHOICES = ["yes", "no"] as const;

const ADMISSION = "messages:";

/** What such a question has as the id of its call: it asks about all until this one. No tool's call has a colon. */
export function admissionCallId(through_seq: number): string {
  return `${ADMISSION}${through_seq}`;
}

/** The `seq` of the last message that it asks about; 0 for the id of another call. */
export function readAdmissionCallId(call_id: string): number {
  const seq = call_id.startsWith(ADMISSION) ? call_id.slice(ADMISSION.length) : "";
  return /^\d{1,15}$/.test(seq) ? Number(seq) : 0;
}

/** `open` until somebody answers, or until nobody needs the answer any more. */
export const QUESTION_STATES = ["open", "answered", "withdrawn"] as const;
export type QuestionState = (typeof QUESTION_STATES)[number];

/** Who answered: as `ORIGINS`, or nobody in time. */
export const ANSWERERS = ["terminal", "prompt", "http", "agent", "timeout"] as const;
export type Answerer = (typeof ANSWERERS)[number];

/** Characters of what is asked, and of what would happen. */
export const MAX_QUESTION = 20_000;
/** Characters of an answer, and of the note beside it. */
export const MAX_ANSWER = 20_000;
export const MAX_CHOICES = 20;
/** Characters of one choice. */
export const MAX_CHOICE = 200;

/** The answer that a question gets when nobody answers in time, if it is one of its choices. */
export interface DefaultAnswer {
  readonly answer: string;
  readonly after_ms: number;
}

/** What a person is shown. */
export interface Asking {
  readonly kind: QuestionKind;
  readonly text: string;
  /** The answers that it takes; null for any text. */
  readonly choices: readonly string[] | null;
  /** What the tool would do. */
  readonly effect: string | null;
}

/** A question in the API, as `SESSION_FIELDS`. */
export const QUESTION_FIELDS = {
  id: "id",
  session_id: "id",
  call_id: "text",
  number: "position",
  state: "question_state",
  kind: "question_kind",
  text: "text",
  choices: "choices?",
  effect: "text?",
  default_answer: "text?",
  answer_by: "time?",
  asked_at: "time",
  answered_at: "time?",
  answered_by: "answerer?",
  /** `user@host`, or `token`; null if nobody answered or it is unknown. */
  answered_who: "text?",
  answer: "text?",
  note: "text?",
} as const;
