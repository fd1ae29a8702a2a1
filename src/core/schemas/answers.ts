import type { SessionAck } from "./schemas.ts";
import type { Session } from "../sessions.ts";

/** Acknowledges a write to a session: `seq` is the message's, or the last one if none was stored. */
export function sessionAck(session: Session, seq: number): SessionAck {
  const { id, state, title, total_input_tokens, total_output_tokens } = session;
  return { id, state, seq, title, total_input_tokens, total_output_tokens };
}
