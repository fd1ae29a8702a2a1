import { storableText } from "../../../core/text/text.ts";
import { readMessage } from "../../records/messages/message-json.ts";

/** A session as far as a fork has to know it. */
export interface ForkedSession {
  readonly id: string;
  /** Null for the built-in agent. */
  readonly agent: string | null;
  readonly last_seq: number;
  readonly thread_suffix: number;
  /** 1 while an exchange runs or was interrupted. */
  readonly exchange_open: number;
  readonly forked_from_session_id: string | null;
  readonly forked_from_seq: number | null;
}

/** Columns of `ForkedSession`. */
export const FORKED_SESSION = [
  "id",
  "agent",
  "last_seq",
  "thread_suffix",
  "exchange_open",
  "forked_from_session_id",
  "forked_from_seq",
] as const;

/** The id of a message as its row has it; empty if it cannot be read. */
export function messageId(body: string): string {
  return storableText(readMessage(body)?.id ?? "");
}
