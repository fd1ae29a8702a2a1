import type { Generated } from "kysely";

import type { ConsentKind } from "../../core/consents.ts";
import type { Answerer, QuestionKind, QuestionState } from "../../core/questions.ts";
import type { ChangeNumber } from "./changes.ts";

/** The tables of questions, and of who consented. */
export interface QuestionTables {
  questions: QuestionTable;
  consents: ConsentTable;
}

/**
 * Questions of tool calls to a person. The key is the call, not LangGraph's id of the interrupt, which changes with
 * every checkpoint in which the call still waits.
 */
export interface QuestionTable {
  session_id: string;
  /** The thread of the session in which the call is. */
  thread_suffix: number;
  call_id: string;
  /** From 1 for each call. */
  number: number;
  id: string;
  state: QuestionState;
  kind: QuestionKind;
  text: string;
  /** JSON of `Choice`s, as the person is shown them. Null for any text. */
  choices: string | null;
  /** JSON of an `AskedPermission`. */
  permission: string | null;
  /** Hash of what the person is shown: an answer counts only for that. */
  shown_hash: string;
  /** The id of the choice that answers it at this time, if nobody does. */
  default_answer: string | null;
  answer_by: string | null;
  asked_at: string;
  answered_at: string | null;
  answered_by: Answerer | null;
  /** The id of a choice, or the text if there are no choices. */
  answer: string | null;
  note: string | null;
  changed: Generated<ChangeNumber>;
  /** 1 if it was answered in this database: an answer in an import does not count as consent. */
  answered_here: Generated<number>;
  /**
   * The lease of the session whose exchange waits for it, at the top of its sub-agents, when it was answered. An exchange that would wait under the same lease
   * has not seen the answer.
   */
  answered_epoch: number | null;
}

/**
 * Who answered a question, set a mode or allowed calls. It stays when a rule is removed. Neither an
 * export nor a copy has any: consent belongs to the database in which it was given.
 */
interface ConsentTable {
  session_id: string;
  /** From 1 in each session. */
  number: number;
  kind: ConsentKind;
  /** See `CONSENT_KINDS`. */
  subject: string;
  /** `user@host`, or `token`. */
  who: string;
  at: string;
}
