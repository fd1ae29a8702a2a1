import { AGENT, GUEST } from "../../../core/principal.ts";
import type { Fallback } from "../../../core/model-settings.ts";
import type { Session } from "../../../core/sessions.ts";
import { type Fence, holdFence } from "../leases/fence.ts";
import type { Operation, Tx } from "../../store.ts";
import { createSession } from "./create.ts";
import { readSession } from "./read.ts";
import { recordChanges } from "./record-changes.ts";
import { CHOICE_FIELDS, choicesOf } from "../messages/waiting.ts";

export interface OpenChild {
  /** The lease of the parent's exchange. */
  readonly fence: Fence;
  /** The tool call that delegates: it has one child, however often it is run. */
  readonly parent_call_id: string;
  readonly persona_name: string;
  readonly model: string;
  /** Models that answer in its place. */
  readonly fallback?: Fallback;
}

/**
 * The session of a sub-agent: the one that this call began, or a new one in the parent's folder,
 * one deeper than the parent.
 *
 * Error codes: `lease_lost`, `session_ended` (of the parent), `depth_exceeded`.
 */
export const openChild: Operation<OpenChild, Session> = async (tx, input) => {
  await holdFence(tx, input.fence);
  const parent = await readSession(tx, { id: input.fence.session_id });
  const known = await tx.db
    .selectFrom("sessions")
    .select("id")
    .where("parent_session_id", "=", parent.id)
    .where("parent_call_id", "=", input.parent_call_id)
    .executeTakeFirst();
  if (known !== undefined) {
    return readSession(tx, known);
  }
  const child = await createSession(tx, {
    persona_name: input.persona_name,
    model: input.model,
    repo_path: parent.repo_path,
    project_key: parent.project_key,
    project_id: parent.project_id,
    plan_mode: parent.plan_mode,
    // the effort is for the parent's model
    cache: parent.cache,
    fallback: input.fallback ?? null,
    parent_session_id: parent.id,
    parent_call_id: input.parent_call_id,
    depth: parent.depth + 1,
    principal: AGENT,
  });
  await inheritUnconfirmed(tx, child);
  return child;
};

/** Returns those calls of a session that have begun a sub-agent. */
export const listDelegatingCalls: Operation<
  { readonly session_id: string },
  readonly string[]
> = async (tx, { session_id }) => {
  const rows = await tx.db
    .selectFrom("sessions")
    .select("parent_call_id")
    .where("parent_session_id", "=", session_id)
    .execute();
  return rows.flatMap(({ parent_call_id }) => parent_call_id ?? []);
};

/** Marks as unconfirmed for the child what is unconfirmed for the parent. */
async function inheritUnconfirmed(tx: Tx, child: Session): Promise<void> {
  const { choices } = await choicesOf(tx, child.parent_session_id ?? "");
  const passed = CHOICE_FIELDS.filter(
    (field) => choices[field] !== undefined && choices[field] === child[field],
  );
  await recordChanges(tx, {
    session_id: child.id,
    principal: GUEST,
    changes: Object.fromEntries(passed.map((field) => [field, choices[field]])),
  });
}
