/** Programs whose histories are read. */
export const PROGRAMS = ["claude-code", "codex", "opencode", "gemini", "pi"] as const;
export type Program = (typeof PROGRAMS)[number];

/** Entry of a conversation, whatever program kept it. Ids are those of the program; nothing in it is trusted. */
export type Entry = UserEntry | AnswerEntry | ResultEntry | SummaryEntry;

interface Kept {
  readonly id: string;
  /** ISO 8601 in UTC with milliseconds; null if the program kept none. */
  readonly ts: string | null;
}

export interface UserEntry extends Kept {
  readonly kind: "user";
  readonly text: string;
}

export interface AnswerEntry extends Kept {
  readonly kind: "answer";
  readonly text: string;
  readonly thinking: readonly string[];
  readonly calls: readonly ForeignCall[];
}

export interface ForeignCall {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface ResultEntry extends Kept {
  readonly kind: "result";
  readonly call_id: string;
  readonly text: string;
  /** Null if the program does not say. */
  readonly failed: boolean | null;
}

/** Text in the place of what came before it. */
export interface SummaryEntry extends Kept {
  readonly kind: "summary";
  readonly text: string;
  /** Id of the first entry before it that the model still saw; null for none. */
  readonly kept_from: string | null;
}

/** A conversation as its program kept it. */
export interface History {
  readonly program: Program;
  /** Id that the program gave it. */
  readonly id: string;
  /** The file it was read from. */
  readonly source: string;
  /** Working folder; null if it is not known. */
  readonly folder: string | null;
  readonly created: string | null;
  /** In the order of the conversation. */
  readonly entries: readonly Entry[];
  readonly children: readonly ChildHistory[];
  /** Lines or rows that could not be read. */
  readonly problems: readonly Problem[];
}

export interface ChildHistory extends History {
  /** The parent's call that began it; null if it is not known. */
  readonly call_id: string | null;
}

export interface Problem {
  readonly source: string;
  /** Line of the file, from 1; null for what is not in a line. */
  readonly line: number | null;
  readonly message: string;
}
