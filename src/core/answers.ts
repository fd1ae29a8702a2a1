import type { MessageInfo, SessionAck, SessionSummary } from "./schemas.ts";
import type { Message, Session } from "./sessions.ts";

/** The summary of a stored session: the same fields without what only the program needs. */
export function sessionSummary(session: Session): SessionSummary {
  const { thread_suffix: _, ...summary } = session;
  return summary;
}

/** The nine fields of a stored message, whatever else the row holds. */
export function messageInfo(message: Message): MessageInfo {
  const { session_id, seq, role, content, tool_calls, token_count, is_summary, archived, ts } =
    message;
  return {
    session_id,
    seq,
    role,
    content,
    tool_calls:
      tool_calls === null ? null : tool_calls.map(({ id, name, args }) => ({ id, name, args })),
    token_count,
    is_summary,
    archived,
    ts,
  };
}

/** What a session's writer gets back: `seq` is the message's, or the last one where none was stored. */
export function sessionAck(session: Session, seq: number): SessionAck {
  const { id, state, title, total_input_tokens, total_output_tokens } = session;
  return { id, state, seq, title, total_input_tokens, total_output_tokens };
}
