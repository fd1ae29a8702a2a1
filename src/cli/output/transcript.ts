import type { CallStatus } from "../../core/calls.ts";
import { oneLine, titleLine, visible, visibleJson } from "../../core/text/terminal-text.ts";
import type {
  PortableMessage,
  PortableSession,
  SessionTree,
} from "../../store/portable/export-schema.ts";

/**
 * A session to read, as Markdown: what it was, then each message under a heading with its position,
 * role and time. Each text is in fences that are longer than any fence in it, so that it can
 * neither end them nor look like a heading. Controls are visible, as on a terminal: the file
 * will be shown on one.
 */
export function* transcript(
  { session, messages, children }: SessionTree,
  { level }: { readonly level: number },
): Generator<string> {
  const mark = "#".repeat(level);
  yield `${mark} ${inline(titleLine(session))}\n\n`;
  yield* facts(session, messages.length);
  for (const message of messages) {
    yield* messageText(message, mark);
  }
  for (const child of children) {
    yield "\n";
    yield* transcript(child, { level: Math.min(level + 1, 5) });
  }
}

function* facts(session: PortableSession, messages: number): Generator<string> {
  const rows: readonly (readonly [string, string | null])[] = [
    ["session", session.id],
    ["parent", session.parent_session_id],
    ["state", session.state],
    ["persona", session.persona_name],
    ["model", session.model],
    ["folder", session.repo_path],
    ["begun", session.created_at],
    ["ended", session.ended_at],
    ["tokens", `${session.total_input_tokens} in, ${session.total_output_tokens} out`],
    ["messages", String(messages)],
  ];
  for (const [name, value] of rows) {
    if (value !== null) {
      yield `- ${name}: ${inline(value)}\n`;
    }
  }
}

function* messageText(message: PortableMessage, mark: string): Generator<string> {
  const marks = marksText({
    summary: message.is_summary,
    archived: message.archived,
    pending: message.role === "user" && !message.checkpointed,
    ...statusMarks(message.status ?? null),
  });
  yield `\n${mark}# ${message.seq}. ${message.role}, ${message.ts}${marks}\n`;
  if (message.content !== "") {
    yield `\n${fenced(visible(message.content), "text")}`;
  }
  for (const call of message.tool_calls ?? []) {
    yield `\nCalls ${inline(call.name)}:\n\n`;
    yield fenced(visibleJson(JSON.stringify(call.args, null, 2) ?? "null"), "json");
  }
}

/** Returns the marks of a message, in brackets after a space; empty if it has none. */
export function marksText(marks: Readonly<Record<string, boolean>>): string {
  const held = Object.keys(marks).filter((name) => marks[name] === true);
  return held.length === 0 ? "" : ` (${held.join(", ")})`;
}

/** How the call of a result ended, unless it ended well. */
export function statusMarks(status: CallStatus | null): Readonly<Record<string, boolean>> {
  return status === null || status === "ok" ? {} : { [status.replace("_", " ")]: true };
}

/** The fence is longer than the longest run of backticks in the text. */
function fenced(text: string, language: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((max, run) => Math.max(max, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}\n`;
}

/** Writes a line of text in which nothing is markup. */
function inline(text: string): string {
  return oneLine(text).replace(/[\\`*_[\]<>&#|~]/g, (character) => `\\${character}`);
}
