import type { MessageInfo, SessionAck, SessionSummary } from "./schemas.ts";
import type { Message, Session } from "./sessions.ts";

/** The summary of a stored session: the same fields without what only the program needs. */
export function sessionSummary(session: Session): SessionSummary {
  return {
    id: session.id,
    state: session.state,
    activity: session.activity,
    title: session.title,
    persona_name: session.persona_name,
    model: session.model,
    repo_path: session.repo_path,
    project_key: session.project_key,
    plan_mode: session.plan_mode,
    parent_session_id: session.parent_session_id,
    depth: session.depth,
    total_input_tokens: session.total_input_tokens,
    total_output_tokens: session.total_output_tokens,
    last_seq: session.last_seq,
    created_at: session.created_at,
    last_message_at: session.last_message_at,
    ended_at: session.ended_at,
  };
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

/** What a session's writer gets back: `seq` is the message's, or the last one if none was stored. */
export function sessionAck(session: Session, seq: number): SessionAck {
  const { id, state, title, total_input_tokens, total_output_tokens } = session;
  return { id, state, seq, title, total_input_tokens, total_output_tokens };
}
