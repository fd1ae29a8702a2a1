import { invalidRequest } from "../../../core/invalid-request.ts";
import type { GivenRule, KeptMode, PermissionMode } from "../../../core/permissions.ts";
import { isRoot } from "../../../core/session-tree.ts";
import { type Principal, consenterOf } from "../../../core/principal.ts";
import type { Session } from "../../../core/sessions.ts";
import { readQuestions } from "../questions/read.ts";
import { lockPath, pathTo } from "../questions/tree.ts";
import type { Operation, Tx } from "../../store.ts";
import { holdActive, setPlanMode } from "./change.ts";
import { recordConsent } from "./consents.ts";
import { lockSession } from "./lock.ts";

/** Permissions by which a session's calls are judged, as far as they are stored. */
export interface SessionPermissions {
  readonly mode: PermissionMode;
  /** Mode that counts once planning mode ends. */
  readonly kept: KeptMode;
  readonly rules: readonly GivenRule[];
  /** The sessions above, the highest first. */
  readonly parents: readonly {
    readonly persona_name: string | null;
    readonly plan_mode: boolean;
  }[];
}

/** Rules that a session keeps at most; of more, the latest. */
const MAX_RULES = 1000;

/** Mode and rules are those of the session at the top of the tree. */
export const readPermissions: Operation<{ readonly id: string }, SessionPermissions> = async (
  tx,
  { id },
) => {
  const path = await pathTo(tx, id, null);
  const rows = await tx.db
    .selectFrom("sessions")
    .select(["id", "persona_name", "plan_mode", "permission_mode", "permission_rules"])
    .where("id", "in", path)
    .execute();
  const ordered = path.flatMap((each) => rows.filter((row) => row.id === each));
  const own = ordered.at(-1);
  const root = ordered.at(0);
  const kept = root?.permission_mode ?? "ask";
  return {
    mode: own?.plan_mode === 1 ? "plan" : kept,
    kept,
    rules: [
      ...rulesOf(root?.permission_rules).filter(({ n }) => n === null),
      ...rulesOf(own?.permission_rules).filter(({ n }) => n !== null),
    ],
    parents: ordered.slice(0, -1).map(({ persona_name, plan_mode }) => ({
      persona_name,
      plan_mode: plan_mode === 1,
    })),
  };
};

function rulesOf(json: string | null | undefined): readonly GivenRule[] {
  return typeof json === "string" ? (JSON.parse(json) as GivenRule[]) : [];
}

/**
 * `plan` begins planning mode, the others end it. Error codes: `session_not_found`, `session_ended`,
 * `invalid_request` for a mode but `plan` in a sub-agent's session, which has that of the one above it.
 */
export const setPermissionMode: Operation<
  { readonly id: string; readonly mode: PermissionMode } & Consenting,
  Session
> = async (tx, { id, mode, principal }) => {
  const session = await holdActive(tx, id);
  if (mode !== "plan" && !isRoot(session)) {
    throw invalidRequest([{ pointer: "/permission", message: OF_ROOTS }]);
  }
  if (mode !== "plan") {
    await tx.db
      .updateTable("sessions")
      .set({ permission_mode: mode })
      .where("id", "=", id)
      .execute();
    // gives them a number: they show this mode too
    await tx.db
      .updateTable("sessions")
      .set(({ ref }) => ({ plan_mode: ref("plan_mode") }))
      .where("root_session_id", "=", id)
      .where("id", "!=", id)
      .execute();
  }
  tx.touch(id);
  await recordConsent(tx, {
    session_id: id,
    kind: "mode",
    subject: mode,
    who: consenterOf(principal),
  });
  return setPlanMode(tx, { id, plan_mode: mode === "plan" });
};

interface Consenting {
  readonly principal?: Principal | undefined;
}

/** Why a sub-agent's session takes no mode. */
const OF_ROOTS = "Must be left out: a sub-agent has the mode of the session at the top.";

/**
 * Keeps what a person allowed: with `n`, for that exchange of the session itself, else for the session at
 * the top of its tree and all below it. It is kept as a consent of the person who answered that question.
 */
export const keepRule: Operation<
  { readonly id: string; readonly question?: string } & GivenRule,
  void
> = async (tx, { id, rule, n, question }) => {
  const [top = id] = await lockPath(tx, id);
  const at = n === null ? top : id;
  if (question !== undefined) {
    const [answered] = await readQuestions(tx, [question]);
    const who = answered?.answered_who;
    await recordConsent(tx, { session_id: at, kind: "rule", subject: rule, who });
  }
  await changeRules(tx, at, (rules) => [
    ...rules.filter((each) => each.rule !== rule && (n === null || (each.n ?? n) === n)),
    { rule, n },
  ]);
};

/** Takes a rule back, however long it was to last. False if the session has none such. */
export const removeRule: Operation<
  { readonly id: string; readonly rule: string },
  boolean
> = async (tx, { id, rule }) => {
  const path = await lockPath(tx, id);
  let removed = false;
  for (const at of new Set([path.at(0) ?? id, id])) {
    await changeRules(tx, at, (rules) => {
      const left = rules.filter((each) => each.rule !== rule);
      removed ||= left.length < rules.length;
      return left;
    });
  }
  return removed;
};

async function changeRules(
  tx: Tx,
  id: string,
  change: (rules: readonly GivenRule[]) => readonly GivenRule[],
): Promise<void> {
  await lockSession(tx, id);
  const row = await tx.db
    .selectFrom("sessions")
    .select("permission_rules")
    .where("id", "=", id)
    .executeTakeFirst();
  const rules = change(rulesOf(row?.permission_rules)).slice(-MAX_RULES);
  await tx.db
    .updateTable("sessions")
    .set({ permission_rules: rules.length === 0 ? null : JSON.stringify(rules) })
    .where("id", "=", id)
    .execute();
  tx.touch(id);
}
