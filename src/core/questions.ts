/**
 * Kinds of questions to a person: a question of the agent (`question`), whether a tool may do what it is about to do
 * (`permission`), whether the models may use more tokens (`limit`), whether calls may run again whose end is unknown
 * (`repeat`), whether a phase of a plan may begin (`approval`), or whether the agent may get messages that came over
 * HTTP without authentication (`messages`): for that one, no exchange waits.
 */
export const QUESTION_KINDS = [
  "question",
  "permission",
  "limit",
  "repeat",
  "approval",
  "messages",
] as const;
export type QuestionKind = (typeof QUESTION_KINDS)[number];

/** Choices of a permission, from the least that one allows to the most. */
export const PERMISSION_CHOICES = [
  "allow_once",
  "allow_exchange",
  "allow_session",
  "allow_edits",
  "allow_folder",
  "allow_each",
  "deny",
] as const;
export type PermissionChoice = (typeof PERMISSION_CHOICES)[number];

/** Choices of the question whether the models may use more tokens. */
export const LIMIT_CHOICES = ["continue", "stop"] as const;
export type LimitChoice = (typeof LIMIT_CHOICES)[number];

/** Choices of the question whether calls may run again whose end is unknown. */
export const REPEAT_CHOICES = ["again", "skip"] as const;
export type RepeatChoice = (typeof REPEAT_CHOICES)[number];

/**
 * Decides about calls that may have taken effect when their exchange continues. `never`: they get the result "outcome
 * unknown". `ask`: the exchange waits for the answer to a stored question. `always`: they run again.
 */
export const REPEATS = ["never", "ask", "always"] as const;
export type Repeats = (typeof REPEATS)[number];

/** Choices of the question whether a phase of a plan may begin. */
export const APPROVAL_CHOICES = ["approve", "refuse"] as const;
export type ApprovalChoice = (typeof APPROVAL_CHOICES)[number];

/** Choices of the question whether the agent may get messages. */
export const ADMISSION_CHOICES = ["yes", "no"] as const;
export type AdmissionChoice = (typeof ADMISSION_CHOICES)[number];

/** Ids that the choices of a kind can have; null for positions, because a model offers texts. */
const CHOICES_OF: Readonly<Record<QuestionKind, readonly string[] | null>> = {
  question: null,
  permission: PERMISSION_CHOICES,
  limit: LIMIT_CHOICES,
  repeat: REPEAT_CHOICES,
  approval: APPROVAL_CHOICES,
  messages: ADMISSION_CHOICES,
};

/** True for ids that the choices of such a question have, in this order. No id of a text that a model offers is one of another kind. */
export function areChoicesOf(kind: QuestionKind, ids: readonly string[]): boolean {
  const known = CHOICES_OF[kind];
  return known === null
    ? ids.every((id, index) => id === positionId(index))
    : ids.every((id, index) => known.includes(id) && ids.indexOf(id) === index);
}

/** The id of a text that a model offers. */
export function positionId(index: number): string {
  return String(index + 1);
}

/** True for each id that a choice can have. */
export function isChoiceId(id: string): boolean {
  return (
    Object.values(CHOICES_OF).some((ids) => ids?.includes(id) === true) ||
    (/^[1-9]\d?$/.test(id) && Number(id) <= MAX_CHOICES)
  );
}

const HARMLESS: ReadonlySet<string> = new Set([
  "allow_each",
  "deny",
  "stop",
  "skip",
  "refuse",
  "no",
] satisfies (PermissionChoice | LimitChoice | RepeatChoice | ApprovalChoice | AdmissionChoice)[]);

/** True for a choice that allows nothing and spends nothing. Of what a model offers nobody knows. */
export function isHarmlessChoice(id: string): boolean {
  return HARMLESS.has(id);
}

/** Answer that a question offers. */
export interface Choice {
  /** Text by which an answer names it. */
  readonly id: string;
  /** Words for a person. */
  readonly label: string;
  /** Sentence that explains the choice; null for what a model offers. */
  readonly meaning: string | null;
  /** Rules that the answer keeps beyond the call; null if it keeps none. */
  readonly lasting: readonly string[] | null;
}

/** The call that a permission is asked for, and why it asks. */
export interface AskedPermission {
  readonly tool: string;
  /** The file or the command that the call is about, in one line; null for neither. */
  readonly subject: string | null;
  /** The rule that asks, and its layer. */
  readonly rule: string;
  readonly layer: string;
  /** True if an answer that counts for longer than the call is offered. */
  readonly may_last: boolean;
}

/** Rules that a longer answer keeps; null if none is offered. */
export function lastingRules(choices: readonly Choice[] | null): readonly string[] | null {
  return choices?.find(({ lasting }) => lasting !== null)?.lasting ?? null;
}

const ADMISSION = "messages:";

/** Returns the id of the call of such a question: it asks about all until this one. No tool's call has a colon. */
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

/** Characters of what is asked. */
export const MAX_QUESTION = 20_000;
/** Characters of an answer, and of the note beside it. */
export const MAX_ANSWER = 20_000;
export const MAX_CHOICES = 20;
/** Characters of one choice. */
export const MAX_CHOICE = 200;

/** The choice that answers a question when nobody does in time, if the question offers it. */
export interface DefaultAnswer {
  /** An id. */
  readonly choice: string;
  readonly after_ms: number;
}

/** Question as a person is shown it. */
export interface Asking {
  readonly kind: QuestionKind;
  readonly text: string;
  /** Answers that it takes; null for any text. */
  readonly choices: readonly Choice[] | null;
  /** Facts of a permission; null for another kind. */
  readonly permission: AskedPermission | null;
}

/** Reply of a person: the id of a choice, or a text to a question without choices. */
export type GivenReply =
  | { readonly choice: string; readonly text?: undefined }
  | { readonly text: string; readonly choice?: undefined };

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
  permission: "permission?",
  /** The id of a choice. */
  default_answer: "text?",
  answer_by: "time?",
  asked_at: "time",
  answered_at: "time?",
  answered_by: "answerer?",
  /** `user@host`, or `token`; null if nobody answered or it is unknown. */
  answered_who: "text?",
  /** The id of the chosen answer; null for a text. */
  choice: "text?",
  /** The label of the choice, or the text. */
  answer: "text?",
  note: "text?",
} as const;
