import type { CallStatus } from "../../core/calls.ts";
import { shownCost } from "../../core/cost/money.ts";
import { cleanCut, type Cleaner } from "../../core/redact/clean.ts";
import { TITLE_LENGTH } from "../../core/limits.ts";
import type { FileChangeInfo } from "../../core/schemas/file-change-schemas.ts";
import { titleLine } from "../../core/text/terminal-text.ts";
import type { TranscriptSession } from "../../store/records/messages/transcript-page.ts";
import type { TranscriptItem } from "./read-transcript.ts";

export type MessageItem = Extract<TranscriptItem, { type: "message" }>;

export function titleOf({ session, name }: TranscriptSession, cleaner: Cleaner): string {
  const line = titleLine({ title: session.title, name });
  return cleanCut(line, { max: TITLE_LENGTH, where: "title", cleaner });
}

/** Facts of a session, each with its label. */
export function sessionFacts(
  { session, usage }: TranscriptSession,
  { text }: Cleaner,
): readonly (readonly [label: string, value: string])[] {
  const folder = session.repo_path;
  const rows: readonly (readonly [string, string | null])[] = [
    ["session", session.id],
    ["parent", session.parent_session_id],
    ["state", session.state],
    ["persona", session.persona_name],
    ["model", session.model],
    ["folder", folder === null ? null : text(folder, "folder")],
    ["begun", session.created_at],
    ["last message", session.last_message_at],
    ["ended", session.ended_at],
    ["tokens", `${session.total_input_tokens} in, ${session.total_output_tokens} out`],
    ["cost", shownCost(usage)],
    ["messages", String(session.last_seq)],
  ];
  return rows.flatMap(([label, value]) => (value === null ? [] : [[label, value] as const]));
}

/** Marks of a message that say how it differs from others. */
export function marksOf({ message, isPending }: MessageItem): readonly string[] {
  const { is_summary, archived, status } = message;
  const marks = { summary: is_summary, archived, pending: isPending, ...statusMarks(status) };
  return Object.entries(marks).flatMap(([name, is]) => (is ? [name] : []));
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

/** Says what happened to a file: `src/a.ts (changed, +2 −1)`. */
export function changeTitle({ path, kind, added, removed, undone }: FileChangeInfo): string {
  const counts = added === null || removed === null ? "" : `, +${added} −${removed}`;
  return `${path} (${kind}${counts}${undone ? ", undone" : ""})`;
}
