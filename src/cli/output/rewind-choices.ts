import type { SentMessage } from "../../store/records/messages/sent.ts";

export type ListedMessage = SentMessage;

/** Choices of a person who goes back to a message. */
export const REWIND_CHOICES = [
  { id: "both", key: "b", text: "both: undo these changes of files, and continue in a fork" },
  { id: "fork", key: "c", text: "only the conversation: continue in a fork" },
  { id: "files", key: "f", text: "only the files: undo these changes" },
] as const;

/** Consequences of going back to before a message. */
export interface RewindPlan {
  /** With all of its text. */
  readonly message: SentMessage;
  /** The last message that stays: the end of an exchange. */
  readonly after: number;
  /** Lines that say what undo would do to files, cleaned; empty if nothing is to be undone. */
  readonly lines: readonly string[];
  /** Sentences about what undo does not reach. */
  readonly notes: readonly string[];
}

export interface RewindSource {
  /** The newest first. */
  readonly messages: readonly ListedMessage[];
  /** Whether there are older ones. */
  readonly more: boolean;
  /** The plan for a message that was named; null if it is to be chosen. */
  readonly chosen: RewindPlan | null;
  /** Error codes: as `readSentMessage`. */
  plan(seq: number): Promise<RewindPlan>;
}

export interface PickedRewind {
  readonly plan: RewindPlan;
  readonly choice: (typeof REWIND_CHOICES)[number]["id"];
}
