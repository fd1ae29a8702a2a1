import { type Fault, RepriseError } from "../../../core/errors.ts";
import { PLAN_AGENT } from "../../../core/plan-runs.ts";
import { isRoot } from "../../../core/session-tree.ts";
import { invalidRequest } from "../../../core/invalid-request.ts";
import type { Principal } from "../../../core/principal.ts";
import type { PatchSessionRequest } from "../../../core/schemas/patch-session.ts";
import type { SessionSummary } from "../../../core/schemas/schemas.ts";
import type { Session } from "../../../core/sessions.ts";
import { momentAfter } from "../../../core/time.ts";
import { lockPath } from "../questions/tree.ts";
import { indexFamily } from "../search/forget.ts";
import type { Operation, Tx } from "../../store.ts";
import { refuseEnded, setPlanMode, startThread, switchModel, takeFolder } from "./change.ts";
import { storeMetadata } from "./labels.ts";
import { setModelSettings } from "./model-settings.ts";
import { lockSession } from "./lock.ts";
import { setPermissionMode } from "./permissions.ts";
import { readSession, resolveSession } from "./read.ts";
import { readSummary } from "./summaries.ts";
import { setLimits } from "./limits.ts";
import { moveSession } from "./trees/move.ts";

export interface PatchSession {
  readonly reference: string;
  readonly change: PatchSessionRequest;
  /** Key of `repo_path`, if that is given: see `projectKeyOf`. */
  readonly project_key: string | null;
  /** See `projectIdOf`. */
  readonly project_id?: string | null;
  readonly principal: Principal;
}

/** Settings of an exchange, which stay while one runs. */
const SETTINGS = ["model", "persona_name", "plan_mode", "repo_path"] as const;

/**
 * Changes what is given, all or nothing, and keeps the rest. Another model or persona begins a fresh
 * thread, as in a terminal, unless `context` keeps it; the one that the session has changes nothing. Name, metadata, archive and pin
 * can be changed at any time, also in an ended session. Another folder moves the session with its sub-agents, as
 * `moveSession` does.
 *
 * Error codes: `session_not_found`, `ambiguous_id`, `session_ended`, `session_busy`,
 * `invalid_request`.
 */
export const patchSession: Operation<PatchSession, SessionSummary> = async (tx, input) => {
  const { reference, change } = input;
  const { id } = await resolveSession(tx, { reference });
  if (change.model === undefined && change.persona_name === undefined) {
    await lockSession(tx, id);
  } else {
    await lockPath(tx, id);
  }
  const session = await readSession(tx, { id });
  refuseSettings(session, input);
  await changeSettings(tx, session, input);
  await changeLabels(tx, id, change);
  tx.touch(id);
  return readSummary(tx, { id });
};

function refuseSettings(session: Session, { change, project_key }: PatchSession): void {
  const changed = SETTINGS.filter((name) => change[name] !== undefined);
  const { permission, token_limits, price_limits, effort, cache, fallback } = change;
  const others = [permission, token_limits, price_limits, effort, cache, fallback];
  if (changed.length > 0 || others.some((value) => value !== undefined)) {
    refuseEnded(session);
  }
  if (changed.length > 0 && session.activity === "running") {
    throw new RepriseError(
      "session_busy",
      "An exchange is running in this session; change its model, persona, folder or planning mode when it is done.",
    );
  }
  const chosen = permission === undefined ? changed : [...changed, "permission"];
  const faults = chosen
    .filter((name) => session.agent !== null && name !== "repo_path")
    .map((name) => ({
      pointer: `/${name}`,
      message: "Must be left out: the agent of this session chooses it.",
    }));
  if (isMove(session, { change, project_key })) {
    faults.push(...unmovable(session).map((message) => ({ pointer: "/repo_path", message })));
  }
  faults.push(...contextFaults(session, change));
  for (const name of ["token_limits", "price_limits"] as const) {
    if (change[name] !== undefined && !isRoot(session)) {
      const message = "Must be left out: only a session without a parent has limits.";
      faults.push({ pointer: `/${name}`, message });
    }
  }
  if (permission !== undefined && change.plan_mode !== undefined) {
    faults.push({
      pointer: "/plan_mode",
      message: "Must be left out beside `permission`, whose mode `plan` it is.",
    });
  }
  if (faults.length > 0) {
    throw invalidRequest(faults);
  }
}

/** True if the session has another folder than the one that is given. */
function isMove(
  session: Session,
  { change, project_key }: Pick<PatchSession, "change" | "project_key">,
): boolean {
  return (
    change.repo_path !== undefined &&
    session.repo_path !== null &&
    session.project_key !== project_key
  );
}

/** Says why a session keeps its folder; nothing for one that does not have to. */
function unmovable(session: Session): readonly string[] {
  if (!isRoot(session)) {
    return ["Must be left out: a sub-agent is moved with the session at the top of its tree."];
  }
  return session.agent === PLAN_AGENT
    ? ["Must be left out: the files of a plan's run are in its folder."]
    : [];
}

function contextFaults(
  session: Session,
  { model, persona_name, context }: PatchSessionRequest,
): Fault[] {
  if (context !== undefined && model === undefined) {
    return [{ pointer: "/context", message: "Needs `model`: it is the context of another model." }];
  }
  return context === "keep" && isOther(persona_name, session.persona_name)
    ? [
        {
          pointer: "/persona_name",
          message:
            "Must be left out beside `context: keep`: another persona begins a fresh thread.",
        },
      ]
    : [];
}

async function changeSettings(
  tx: Tx,
  session: Session,
  { change, project_key, project_id = null, principal }: PatchSession,
): Promise<void> {
  const { id } = session;
  if (change.repo_path !== undefined && project_key !== null) {
    const folder = { id, repo_path: change.repo_path, project_key, project_id, principal };
    await (isMove(session, { change, project_key })
      ? moveSession(tx, folder)
      : takeFolder(tx, folder));
  }
  if (change.plan_mode !== undefined) {
    await setPlanMode(tx, { id, plan_mode: change.plan_mode, principal });
  }
  if (change.permission !== undefined) {
    await setPermissionMode(tx, { id, mode: change.permission, principal });
  }
  const { token_limits: tokens, price_limits: prices } = change;
  if (tokens !== undefined || prices !== undefined) {
    await setLimits(tx, { id, tokens, prices });
  }
  const { effort, cache, fallback } = change;
  if ([effort, cache, fallback].some((value) => value !== undefined)) {
    const settings = {
      ...(effort === undefined ? {} : { effort }),
      ...(cache === undefined ? {} : { cache }),
      ...(fallback === undefined ? {} : { fallback }),
    };
    await setModelSettings(tx, { id, settings });
  }
  if (change.context === "keep" && isOther(change.model, session.model)) {
    await switchModel(tx, { id, model: change.model, principal });
    return;
  }
  const thread = {
    ...(isOther(change.model, session.model) ? { model: change.model } : {}),
    ...(isOther(change.persona_name, session.persona_name)
      ? { persona_name: change.persona_name }
      : {}),
  };
  if (Object.keys(thread).length > 0) {
    await startThread(tx, { id, archive: false, ...thread, principal });
  }
}

function isOther(wanted: string | undefined, current: string | null): wanted is string {
  return wanted !== undefined && wanted !== current;
}

async function changeLabels(
  tx: Tx,
  id: string,
  { name, archived, pinned, metadata }: PatchSessionRequest,
): Promise<void> {
  if ([name, archived, pinned, metadata].some((value) => value !== undefined)) {
    const times = await labelTimes(tx, id);
    await tx.db
      .updateTable("sessions")
      .set(({ fn }) => ({
        ...(name === undefined ? {} : { name, named_at: times.named_at }),
        ...(archived === undefined
          ? {}
          : {
              archived_at: archived ? fn.coalesce("archived_at", tx.dialect.now()) : null,
              archive_changed_at: times.archive_changed_at,
            }),
        ...(pinned === undefined
          ? {}
          : {
              pinned_at: pinned ? fn.coalesce("pinned_at", tx.dialect.now()) : null,
              pin_changed_at: times.pin_changed_at,
            }),
        ...(metadata === undefined ? {} : { metadata_changed_at: times.metadata_changed_at }),
      }))
      .where("id", "=", id)
      .execute();
  }
  if (archived !== undefined) {
    await indexFamily(tx, id);
  }
  if (metadata !== undefined) {
    await storeMetadata(tx, id, metadata);
  }
}

const TIMES = ["named_at", "archive_changed_at", "pin_changed_at", "metadata_changed_at"] as const;
type LabelTimes = Readonly<Record<(typeof TIMES)[number], string>>;

/** The time of a change of each label: after the one before it, which another machine with another clock may have made. */
async function labelTimes(tx: Tx, id: string): Promise<LabelTimes> {
  const { now, ...times } = await tx.db
    .selectFrom("sessions")
    .select([...TIMES, tx.dialect.now().as("now")])
    .where("id", "=", id)
    .$castTo<Record<(typeof TIMES)[number], string | null> & { now: string }>()
    .executeTakeFirstOrThrow();
  const after = (before: string | null): string =>
    before === null || before < now ? now : momentAfter(before);
  return {
    named_at: after(times.named_at),
    archive_changed_at: after(times.archive_changed_at),
    pin_changed_at: after(times.pin_changed_at),
    metadata_changed_at: after(times.metadata_changed_at),
  };
}
