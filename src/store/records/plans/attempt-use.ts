import { sql } from "kysely";

import type { Usage } from "../../../core/cost/model-calls.ts";
import { usageIn, USAGE_COLUMNS } from "../model-calls/read-usage.ts";
import type { Operation, Tx } from "../../store.ts";

/** Usage and changed files of an attempt of a phase, with its sub-agents. */
export interface AttemptUse {
  /** Names the attempt, as of `phaseCallId`. */
  readonly call_id: string;
  /** The model that answered last; null before any has. */
  readonly model: string | null;
  readonly usage: Usage;
  /** In the order of their paths. */
  readonly files: readonly ChangedFile[];
}

/** A path that tools have changed. */
export interface ChangedFile {
  readonly path: string;
  /** True if all their changes were taken back. */
  readonly undone: boolean;
}

/** Adds up each attempt of a run, with two queries for all of them. */
export const readAttemptUse: Operation<
  { readonly session_id: string },
  readonly AttemptUse[]
> = async (tx, { session_id }) => {
  const used = await readUsage(tx, session_id);
  const files = await readFiles(tx, session_id);
  return used.map(({ call_id, model, ...usage }) => ({
    call_id,
    model,
    usage: usageIn(usage),
    files: files.get(call_id) ?? [],
  }));
};

/** The sessions of a run's attempts and all below them, each with the call id of its attempt. */
export function attemptsOf(session_id: string) {
  return sql`with recursive attempt (id, call_id) as (
      select sessions.id, sessions.parent_call_id from sessions
      where sessions.parent_session_id = ${session_id} and sessions.parent_call_id is not null
      union
      select below.id, attempt.call_id from sessions as below
      join attempt on below.parent_session_id = attempt.id
    )`;
}

type UsageRow = Parameters<typeof usageIn>[0] & {
  readonly call_id: string;
  readonly model: string | null;
};

async function readUsage({ db }: Tx, session_id: string): Promise<readonly UsageRow[]> {
  const sums = USAGE_COLUMNS.map(
    (name) => sql`cast(sum(${sql.ref(name)}) as bigint) as ${sql.ref(name)}`,
  );
  const { rows } = await sql<UsageRow>`${attemptsOf(session_id)}
    select attempt.call_id, (
      select coalesce(exchanges.fallback_model, exchanges.model) from exchanges
      join sessions on sessions.id = exchanges.session_id
      where sessions.parent_session_id = ${session_id}
        and sessions.parent_call_id = attempt.call_id and exchanges.model is not null
      order by exchanges.n desc limit 1
    ) as model, ${sql.join(sums)}
    from attempt left join model_usage on model_usage.session_id = attempt.id
    group by attempt.call_id`.execute(db);
  return rows;
}

async function readFiles(
  { db }: Tx,
  session_id: string,
): Promise<ReadonlyMap<string, readonly ChangedFile[]>> {
  // folders that a tool made on the way to a file have no mode
  const { rows } = await sql<{ call_id: string; path: string; changes: number; undone: number }>`
    ${attemptsOf(session_id)}
    select attempt.call_id, path, count(*) as changes, count(undone_at) as undone
    from attempt join file_changes on file_changes.session_id = attempt.id
    where not (entry_before is null and coalesce(entry_after, '') like '%"mode":null%')
    group by attempt.call_id, path order by path`.execute(db);
  const files = Map.groupBy(rows, ({ call_id }) => call_id);
  return new Map(
    [...files].map(([call_id, each]) => [
      call_id,
      each.map(({ path, changes, undone }) => ({ path, undone: undone === changes })),
    ]),
  );
}
