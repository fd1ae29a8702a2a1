import { NO_USAGE, type Usage } from "../../core/cost/model-calls.ts";
import { summedCalls, usageOfSession } from "../records/model-calls/read-usage.ts";
import { addUsage } from "../records/model-calls/store-calls.ts";
import type { Tx } from "../store.ts";
import { about, type Difference } from "./difference.ts";

/** The sums of a session's requests as they are stored, and as its requests add up. */
export interface UsageRecord {
  readonly stored: Usage;
  readonly expected: Usage;
}

export async function readUsageRecord(tx: Tx, session_id: string): Promise<UsageRecord> {
  const sum = await tx.db
    .selectFrom("model_calls")
    .select(summedCalls())
    .where("session_id", "=", session_id)
    .executeTakeFirstOrThrow();
  const expected = sum.calls === 0 ? NO_USAGE : sum;
  return { stored: await usageOfSession(tx, session_id), expected };
}

export function usageFindings({ stored, expected }: UsageRecord): Difference[] {
  const names = Object.keys(NO_USAGE) as (keyof Usage)[];
  return names
    .filter((name) => stored[name] !== expected[name])
    .map((name) =>
      about(
        "usage",
        `The sum ${name} of the requests of models is ${stored[name]} and should be ${expected[name]}.`,
      ),
    );
}

/** Replaces the sums. */
export async function rewriteUsage(tx: Tx, session_id: string, usage: Usage): Promise<void> {
  await tx.db.deleteFrom("model_usage").where("session_id", "=", session_id).execute();
  if (usage.calls > 0) {
    await addUsage(tx, session_id, usage);
  }
}
