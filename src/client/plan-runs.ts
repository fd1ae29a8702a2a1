import type {
  CreatePlanRunRequest,
  ResumePlanRunRequest,
} from "../core/schemas/plan-run-requests.ts";
import type { RunDetail, RunSummary } from "../core/schemas/plan-run-schemas.ts";
import { type Connection, nextOf } from "./connection.ts";

export interface PlanRunPage {
  readonly runs: readonly RunSummary[];
  /** Give it as `cursor` for the page that follows; null on the last one. */
  readonly next: string | null;
}

export interface ListRunsOptions {
  readonly limit?: number;
  readonly cursor?: string;
  /** State of the run's last exchange. */
  readonly state?: RunSummary["state"];
}

/** Phase plans that are run. All of it needs a token; an id may be the plan's `runId` too. */
export interface PlanRunCalls {
  /**
   * Stores a run, which the next free node runs. With an `idempotencyKey`, a repeated call finds the run of the first one.
   * Codes among others: `plan_invalid`, `role_unknown`, `run_exists`, `token_required`.
   */
  createPlanRun(
    request: CreatePlanRunRequest,
    options?: { idempotencyKey?: string },
  ): Promise<RunDetail>;
  /** The newest first. */
  listPlanRuns(options?: ListRunsOptions): Promise<PlanRunPage>;
  getPlanRun(id: string): Promise<RunDetail>;
  /**
   * Queues the next exchange of a run; `retry` are phases that get another attempt first, none for all that failed or were
   * refused. Codes among others: `nothing_to_continue`, `question_open`, `session_busy`.
   */
  resumePlanRun(id: string, request?: ResumePlanRunRequest): Promise<RunDetail>;
  /** Returns what a run did, as Markdown for a pull request. */
  reportPlanRun(id: string): Promise<string>;
}

const PATH = "/api/plan-runs";

export function planRunCalls(connection: Connection): PlanRunCalls {
  const pathOf = (id: string): string => `${PATH}/${encodeURIComponent(id)}`;
  return {
    createPlanRun: (body, { idempotencyKey } = {}) =>
      connection.json("POST", PATH, { body, headers: { "idempotency-key": idempotencyKey } }),
    listPlanRuns: async (query = {}) => {
      const { body, headers } = await connection.call<RunSummary[]>("GET", PATH, {
        query,
      });
      return { runs: body, next: nextOf(headers, "cursor") };
    },
    getPlanRun: (id) => connection.json("GET", pathOf(id)),
    resumePlanRun: (id, body = {}) => connection.json("POST", `${pathOf(id)}/resume`, { body }),
    reportPlanRun: (id) => connection.text(`${pathOf(id)}/report`),
  };
}
