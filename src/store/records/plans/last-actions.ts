import { sql } from "kysely";

import { MAX_SUBJECT } from "../../../core/limits.ts";
import type { ToolCall } from "../../../core/sessions.ts";
import { toolCallsOf } from "../messages/rows.ts";
import type { Operation } from "../../store.ts";

/** The last message of a model in the session of an attempt. */
export interface LastMessage {
  /** Session of the attempt's sub-agent. */
  readonly id: string;
  /** Beginning of its text. */
  readonly content: string;
  readonly tool_calls: readonly ToolCall[];
  readonly ts: string;
}

/** Reads what the sub-agents of a run wrote or called last, with one statement for all of them. */
export const readLastActions: Operation<
  { readonly session_id: string },
  readonly LastMessage[]
> = async ({ db }, { session_id }) => {
  const { rows } = await sql<
    Omit<LastMessage, "tool_calls"> & { readonly tool_calls: string | null }
  >`
    select child.id, substr(content, 1, ${2 * MAX_SUBJECT}) as content, tool_calls, messages.ts
    from sessions as child join messages on messages.session_id = child.id
    where child.parent_session_id = ${session_id} and child.parent_call_id is not null
      and messages.seq = (
        select seq from messages as latest
        where latest.session_id = child.id and latest.role = 'assistant'
        order by seq desc limit 1
      )`.execute(db);
  return rows.map(({ tool_calls, ...row }) => ({
    ...row,
    tool_calls: tool_calls === null ? [] : toolCallsOf(tool_calls),
  }));
};
