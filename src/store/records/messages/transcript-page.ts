import { NO_USAGE, type Usage } from "../../../core/cost/model-calls.ts";
import type { SessionLabels } from "../../../core/labels.ts";
import type { Message, Session } from "../../../core/sessions.ts";
import type { Operation } from "../../store.ts";
import { usageOfSession } from "../model-calls/read-usage.ts";
import { readLabelsOf } from "../sessions/labels.ts";
import { resolveSession } from "../sessions/read.ts";
import { childIdsOf } from "../sessions/tree-ids.ts";
import { readPageAfter } from "./stream-page.ts";

export interface TranscriptSession {
  readonly session: Session;
  readonly name: SessionLabels["name"];
  readonly usage: Usage;
  /** Sub-agents by creation, then by id. */
  readonly children: readonly { readonly id: string; readonly call_id: string | null }[];
}

/** Reads what is shown of a session before its messages. Error codes: as `resolveSession`. */
export const readTranscriptSession: Operation<{ readonly id: string }, TranscriptSession> = async (
  tx,
  { id },
) => {
  const session = await resolveSession(tx, { reference: id });
  const labels = await readLabelsOf(tx, { ids: [session.id] });
  const children = [];
  for (const child of await childIdsOf(tx, session.id)) {
    const { parent_call_id } = await resolveSession(tx, { reference: child });
    children.push({ id: child, call_id: parent_call_id });
  }
  const usage = (await usageOfSession(tx, session.id)) ?? NO_USAGE;
  return { session, name: labels.get(session.id)?.name ?? null, usage, children };
};

/** Rows and bytes of a page; one message may be larger and then comes alone. */
const PAGE = { max_rows: 200, max_bytes: 1024 * 1024 } as const;

export interface TranscriptPage {
  readonly messages: readonly Message[];
  /** Positions of user messages that no checkpoint holds. */
  readonly pending: ReadonlySet<number>;
  readonly more: boolean;
}

/** Reads the next messages of a session, archived ones too. Error codes: `database_corrupt`. */
export const readTranscriptPage: Operation<
  { readonly session_id: string; readonly after_seq: number },
  TranscriptPage
> = async (tx, { session_id, after_seq }) => {
  const page = await readPageAfter(tx, { session_id, after_seq, all: true, ...PAGE });
  const rows = await tx.db
    .selectFrom("messages")
    .select("seq")
    .where("session_id", "=", session_id)
    .where("seq", ">", after_seq)
    .where("seq", "<=", page.messages.at(-1)?.seq ?? after_seq)
    .where("role", "=", "user")
    .where("checkpointed", "=", 0)
    .execute();
  return { ...page, pending: new Set(rows.map(({ seq }) => seq)) };
};
