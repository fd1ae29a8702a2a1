import type { CallStatus } from "../../../core/calls.ts";
import type { Role, ToolCall } from "../../../core/sessions.ts";

/** A message of a checkpoint, as the mirror shows it. */
export interface MirrorMessage {
  readonly message_id: string;
  readonly role: Role;
  readonly content: string;
  readonly tool_calls: readonly ToolCall[] | null;
  readonly token_count: number;
  readonly is_summary: boolean;
  /** The call that a tool's result answers. */
  readonly call_id?: string | null;
  /** Status of the call, of a tool's result. */
  readonly status?: CallStatus | null;
  /** True if the agent of Reprise has kept that status. */
  readonly isMarked?: boolean;
  /** Tokens that the provider charged for this message, added to the totals once; null for all but answers. */
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number } | null;
}

/** The columns of a row that follow from its message, so both have to be equal in them. */
export const MIRROR_COLUMNS = [
  "role",
  "content",
  "tool_calls",
  "token_count",
  "is_summary",
] as const;

/** With those that exports of the builds before the baseline may not have. */
export const ALL_MIRROR_COLUMNS = [...MIRROR_COLUMNS, "call_id", "status"] as const;

export function mirrorColumns(message: MirrorMessage) {
  return {
    role: message.role,
    content: message.content,
    tool_calls: message.tool_calls === null ? null : JSON.stringify(message.tool_calls),
    token_count: message.token_count,
    is_summary: message.is_summary ? 1 : 0,
    call_id: message.call_id ?? null,
    status: message.status ?? null,
  } satisfies Record<(typeof ALL_MIRROR_COLUMNS)[number], unknown>;
}
