import { PLAN_AGENT } from "../../../core/plan-runs.ts";
import type { Session } from "../../../core/sessions.ts";
import { isRoot } from "../../../core/session-tree.ts";
import type { Operation } from "../../store.ts";
import { selectSessions, sessionOf } from "./rows.ts";

/** How the user talks with a session: at a terminal, or with `-p` or input without a terminal. */
export type ChosenBy = "terminal" | "prompt";

export interface LatestChosen {
  readonly project_key: string;
  /** Set for sessions of this repository in other folders than that of `project_key`. */
  readonly elsewhere?: { readonly project_id: string };
  /** Null takes sessions that others began too. */
  readonly by: ChosenBy | null;
}

/**
 * The latest active session of a folder, or of its repository elsewhere, that the user began or chose; null if there is none. At
 * a terminal only what a terminal began or opened counts, with `-p` either. Sessions that name
 * no origin count as the user's own, but for sub-agents.
 */
export const readLatestChosen: Operation<LatestChosen, Session | null> = async (tx, input) => {
  const { by, project_key, elsewhere } = input;
  let query = selectSessions(tx)
    .$if(elsewhere === undefined, (own) => own.where("project_key", "=", project_key))
    .$if(elsewhere !== undefined, (others) =>
      others
        .where("project_id", "=", elsewhere?.project_id ?? "")
        .where("project_key", "!=", project_key),
    )
    .where("state", "=", "active")
    // a run takes no message
    .where(({ eb, or }) => or([eb("agent", "is", null), eb("agent", "!=", PLAN_AGENT)]))
    .orderBy("last_activity_at", "desc")
    .orderBy("id", "desc")
    .limit(1);
  if (by !== null) {
    const ways = waysOf(by);
    query = query.where(({ eb, and, or }) =>
      or([
        eb("origin", "in", ways),
        eb("chosen", "in", ways),
        and([eb("origin", "is", null), eb("parent_session_id", "is", null)]),
      ]),
    );
  }
  const row = await query.executeTakeFirst();
  return row === undefined ? null : sessionOf(row);
};

function waysOf(by: ChosenBy): readonly ChosenBy[] {
  return by === "terminal" ? ["terminal"] : ["terminal", "prompt"];
}

export interface Choice {
  readonly id: string;
  readonly by: ChosenBy;
}

/** Whether `--continue` would take the session in its current state. */
export const isChosen: Operation<Choice, boolean> = async (tx, { id, by }) => {
  const ways: readonly string[] = waysOf(by);
  const row = await tx.db
    .selectFrom("sessions")
    .select(["origin", "chosen", "parent_session_id"])
    .where("id", "=", id)
    .executeTakeFirst();
  return (
    row === undefined ||
    [row.origin, row.chosen].some((way) => way !== null && ways.includes(way)) ||
    (row.origin === null && isRoot(row))
  );
};

/** Keeps that the user opened the session by its id or from a list. */
export const markChosen: Operation<Choice, void> = async (tx, { id, by }) => {
  await tx.db.updateTable("sessions").set({ chosen: by }).where("id", "=", id).execute();
};
