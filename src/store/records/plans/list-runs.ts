import type { ExchangeState } from "../../../core/exchanges.ts";
import type { Operation, Tx } from "../../store.ts";
import { readCurrent } from "../exchanges/current.ts";
import type { ListPosition } from "../sessions/list.ts";
import { readPhasesOf, type StoredPhase } from "./phases.ts";

/** A run in a list. */
export interface ListedRun {
  readonly session_id: string;
  readonly run_id: string;
  readonly number: number;
  readonly phases: readonly StoredPhase[];
  /** The last exchange of its session; null before it begins. */
  readonly exchange: { readonly state: ExchangeState } | null;
}

export interface ListRuns {
  readonly limit: number;
  /** State of the last exchange; `queued` before the first one. */
  readonly state?: ExchangeState | undefined;
  /** End of the page before. */
  readonly after?: ListPosition | undefined;
}

export interface RunPage {
  readonly runs: readonly ListedRun[];
  /** Beginning of the next page; null on the last one. */
  readonly next: ListPosition | null;
}

/** Lists runs, the newest first. */
export const listRuns: Operation<ListRuns, RunPage> = async (tx, { limit, state, after }) => {
  const runs: ListedRun[] = [];
  let next: ListPosition | null = after ?? null;
  do {
    const rows = await readRows(tx, { limit: limit + 1, after: next });
    const current = await readCurrent(
      tx,
      rows.map(({ session_id }) => session_id),
    );
    const page = rows.slice(0, limit);
    const phases = await readPhasesOf(tx, {
      session_ids: page.map(({ session_id }) => session_id),
    });
    next = null;
    for (const { at, ...run } of page) {
      const exchange = current.get(run.session_id) ?? null;
      if (state === undefined || (exchange?.state ?? "queued") === state) {
        runs.push({ ...run, exchange, phases: phases.get(run.session_id) ?? [] });
      }
      const isLast = rows.at(-1)?.session_id === run.session_id;
      next = isLast ? null : { at, id: run.session_id };
      if (runs.length === limit) {
        break;
      }
    }
  } while (runs.length < limit && next !== null);
  return { runs, next };
};

interface RunRow {
  readonly session_id: string;
  readonly run_id: string;
  readonly number: number;
  readonly at: string;
}

function readRows(
  { db }: Tx,
  { limit, after }: { readonly limit: number; readonly after: ListPosition | null },
): Promise<RunRow[]> {
  return db
    .selectFrom("plan_runs")
    .innerJoin("sessions", "sessions.id", "plan_runs.session_id")
    .select(["plan_runs.session_id", "run_id", "number", "sessions.created_at as at"])
    .$if(after !== null, (query) =>
      query.where(({ eb, refTuple, tuple }) =>
        eb(
          refTuple("sessions.created_at", "sessions.id"),
          "<",
          tuple(after?.at ?? "", after?.id ?? ""),
        ),
      ),
    )
    .orderBy("sessions.created_at", "desc")
    .orderBy("sessions.id", "desc")
    .limit(limit)
    .execute();
}
