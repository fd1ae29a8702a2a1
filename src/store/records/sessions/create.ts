import { newId } from "../../../core/ids.ts";
import type { Session } from "../../../core/sessions.ts";
import { RepriseError } from "../../../core/errors.ts";
import { MAX_SUBAGENT_DEPTH } from "../../../core/limits.ts";
import type { ModelChoice } from "../../../core/model-settings.ts";
import type { Metadata } from "../../../core/labels.ts";
import { type Principal, consenterOf, isOwner } from "../../../core/principal.ts";
import type { PermissionMode } from "../../../core/permissions.ts";
import type { ScopedLimits } from "../../../core/cost/limits.ts";
import { refuseFreeThreadsOf } from "../threads/free-threads.ts";
import { type Parameter, prepared } from "../../prepared.ts";
import type { Operation, Tx } from "../../store.ts";
import { recordConsent } from "./consents.ts";
import { storeMetadata } from "./labels.ts";
import { fallbackText } from "./model-settings.ts";
import { readSession } from "./read.ts";
import { rootOf } from "./tree-ids.ts";
import { sessionColumns, sessionOf } from "./rows.ts";
import { limitColumns } from "./limits.ts";

export interface NewSession extends Partial<ModelChoice> {
  /** A full id that the caller chose; a new one if none is given. */
  readonly id?: string;
  readonly persona_name?: string | null;
  readonly model?: string | null;
  /** Absolute. `project_key` belongs to it: see `projectKeyOf`. */
  readonly repo_path?: string | null;
  readonly project_key?: string | null;
  /** See `projectIdOf`. */
  readonly project_id?: string | null;
  readonly plan_mode?: boolean;
  readonly parent_session_id?: string | null;
  readonly parent_call_id?: string | null;
  /** 0..3; refused beyond with `depth_exceeded`. */
  readonly depth?: number;
  /** Who creates it; unknown callers count as authenticated. */
  readonly principal?: Principal;
  /** For a session without a parent. */
  readonly token_limits?: ScopedLimits;
  /** In micro-dollars, in the same way. */
  readonly price_limits?: ScopedLimits;
  readonly metadata?: Metadata;
  /** Mode of a session without a parent; `plan` is as `plan_mode`. `ask` if it is not given. */
  readonly permission?: PermissionMode;
}

/**
 * Inserts a session without messages and returns it. A sub-agent's session is one deeper than its
 * parent, whatever `depth` says.
 *
 * Error codes: `depth_exceeded`, `session_not_found` for the parent, `invalid_request` if the
 * chosen id is taken, `session_exists` if threads without a session have it.
 */
export const createSession: Operation<NewSession, Session> = async (tx, input) => {
  const id = input.id ?? newId();
  const [inserted] = await tx.rows(
    insertSession,
    columnsOf(id, await placeOf(tx, { ...input, id }), input),
  );
  if (inserted === undefined) {
    throw new RepriseError(
      "invalid_request",
      "A session with this id is there already; load that one, or begin one with another id.",
    );
  }
  if (input.id !== undefined) {
    await refuseFreeThreadsOf(tx, id);
  }
  if (input.metadata !== undefined) {
    await storeMetadata(tx, id, input.metadata);
  }
  if (!["ask", "plan"].includes(input.permission ?? "ask")) {
    const subject = input.permission ?? "";
    await recordConsent(tx, {
      session_id: id,
      kind: "mode",
      subject,
      who: consenterOf(input.principal),
    });
  }
  tx.touch(id);
  return sessionOf(inserted);
};

function columnsOf(id: string, place: Place, input: NewSession) {
  return {
    id,
    persona_name: input.persona_name ?? null,
    model: input.model ?? null,
    repo_path: input.repo_path ?? null,
    project_key: input.project_key ?? null,
    project_id: input.project_id ?? null,
    ...modeColumns(input),
    effort: input.effort ?? null,
    cache: input.cache ?? null,
    prefix_mark: newId(),
    fallback: fallbackText(input.fallback ?? null),
    parent_session_id: input.parent_session_id ?? null,
    parent_call_id: input.parent_call_id ?? null,
    ...place,
    ...limitColumns(input.token_limits ?? {}, input.price_limits ?? {}),
    origin: input.principal?.origin ?? null,
    authenticated: isOwner(input.principal) ? 1 : 0,
  };
}

function modeColumns({ plan_mode, permission = "ask" }: NewSession) {
  return {
    plan_mode: plan_mode === true || permission === "plan" ? 1 : 0,
    permission_mode: permission === "plan" ? ("ask" as const) : permission,
  };
}

const insertSession = prepared(({ db, dialect }, given: Parameter<ReturnType<typeof columnsOf>>) =>
  db
    .insertInto("sessions")
    .values(given.row())
    .onConflict((conflict) => conflict.column("id").doNothing())
    .returning(sessionColumns({ dialect })),
);

/** Where a session is in its tree. */
interface Place {
  readonly depth: number;
  readonly root_session_id: string | null;
}

async function placeOf(tx: Tx, input: NewSession & { readonly id: string }): Promise<Place> {
  const parent =
    typeof input.parent_session_id === "string"
      ? await readSession(tx, { id: input.parent_session_id })
      : null;
  const depth = parent === null ? (input.depth ?? 0) : parent.depth + 1;
  if (Math.max(depth, input.depth ?? 0) > MAX_SUBAGENT_DEPTH) {
    throw new RepriseError(
      "depth_exceeded",
      `Sub-agents may be nested ${MAX_SUBAGENT_DEPTH} deep at most; let the parent do this task itself.`,
    );
  }
  return { depth, root_session_id: parent === null ? input.id : await rootOf(tx, parent.id) };
}
