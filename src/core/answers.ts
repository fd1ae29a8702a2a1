import type { MessageInfo, SessionAck } from "./schemas.ts";
import type { Message, Session } from "./sessions.ts";

/** The fields of a stored message, whatever else its row holds. */
export function messageInfo({ message_id: _id, call_id: _call, ...info }: Message): MessageInfo {
  const { tool_calls } = info;
  info.tool_calls = tool_calls?.map(({ id, name, args }) => ({ id, name, args })) ?? null;
  return info;
}

/** What a session's writer gets back: `seq` is the message's, or the last one if none was stored. */
export function sessionAck(session: Session, seq: number): SessionAck {
  const { id, state, title, total_input_tokens, total_output_tokens } = session;
  return { id, state, seq, title, total_input_tokens, total_output_tokens };
}
