import type { MessageInfo } from "../../../src/entries/client.ts";

/** A message of a session, of 10 characters. */
export function messageInfo(seq: number, more: Partial<MessageInfo> = {}): MessageInfo {
  return {
    session_id: "s",
    seq,
    message_id: `m${seq}`,
    role: "user",
    content: String(seq).padStart(10, "."),
    tool_calls: null,
    call_id: null,
    status: null,
    token_count: 0,
    is_summary: false,
    archived: false,
    ts: new Date(Date.UTC(2026, 0, 1, 0, 0, seq)).toISOString(),
    ...more,
  };
}

const READING: ReadonlySet<string> = new Set(["read_file", "list_files", "search_files", "look"]);

/** An answer that calls tools by name; ids are the names with the position of the call. */
export function callingMessage(seq: number, names: readonly string[], content = ""): MessageInfo {
  const tool_calls = names.map((name, index) => ({
    id: `${name}-${seq}-${index}`,
    name,
    args: {},
    effect: READING.has(name) ? ("reads" as const) : null,
    subject: null,
  }));
  return messageInfo(seq, { role: "assistant", content, tool_calls });
}
