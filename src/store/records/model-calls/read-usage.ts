import { sql } from "kysely";

import { NO_USAGE, TOKEN_KINDS, type Usage } from "../../../core/cost/model-calls.ts";
import { type Parameter, prepared } from "../../prepared.ts";
import { withinTree } from "../questions/tree.ts";
import type { Operation, Tx } from "../../store.ts";

export const USAGE_COLUMNS = ["calls", "unpriced", ...TOKEN_KINDS, "cost_micros"] as const;

type UsageRow = Omit<Usage, "calls" | "unpriced"> & {
  readonly calls: number | null;
  readonly unpriced: number | null;
};

/** The sums of a row that may be missing. */
export function usageIn(row: UsageRow): Usage {
  const { calls, unpriced } = row;
  if (calls === null) {
    return NO_USAGE;
  }
  const { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, cost_micros } = row;
  const counts = { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning };
  return { ...counts, calls, unpriced: unpriced ?? 0, cost_micros };
}

/** Reads what the requests of a session have used. */
export async function usageOfSession(tx: Tx, session_id: string): Promise<Usage> {
  const [row] = await tx.rows(sessionUsage, { session_id });
  return row ?? NO_USAGE;
}

const sessionUsage = prepared(({ db }, given: Parameter<{ readonly session_id: string }>) =>
  db.selectFrom("model_usage").select(USAGE_COLUMNS).where("session_id", "=", given("session_id")),
);

/** Reads what the requests of exchanges have used, by the numbers of those that made one. */
export async function usageOfExchanges(
  tx: Tx,
  session_id: string,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, Usage>> {
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  const rows =
    numbers.length === 0 ? [] : await tx.rows(exchangeUsage, { session_id, first, last });
  return new Map(rows.map(({ n, ...usage }) => [n, usage]));
}

const exchangeUsage = prepared(
  (
    { db },
    given: Parameter<{
      readonly session_id: string;
      readonly first: number;
      readonly last: number;
    }>,
  ) =>
    db
      .selectFrom("model_calls")
      .select("n")
      .select(summedCalls())
      .where("session_id", "=", given("session_id"))
      .where("n", ">=", given("first"))
      .where("n", "<=", given("last"))
      .groupBy("n"),
);

/** Sums of rows of `model_calls`. PostgreSQL's sum of integers is a decimal number. */
export function summedCalls() {
  const sums = TOKEN_KINDS.map((kind) => summed(kind).as(kind));
  return [
    sql<number>`count(*)`.as("calls"),
    sql<number>`count(*) - count(price_micros)`.as("unpriced"),
    ...sums,
    summed("price_micros").as("cost_micros"),
  ] as const;
}

function summed(column: string) {
  return sql<number | null>`cast(sum(${sql.ref(column)}) as bigint)`;
}

/** Usage of one model. */
export interface ModelShare extends Usage {
  readonly model: string;
}

/** Usage of a session and its last exchange. */
export interface TreeUsage {
  /** The last exchange that has begun, and the same with the sub-agents that it began; null without one. */
  readonly exchange: { readonly own: Usage; readonly tree: Usage } | null;
  readonly session: Usage;
  /** The session with all below it. */
  readonly tree: Usage;
  /** Of the tree, by model; the one that cost most comes first. */
  readonly models: readonly ModelShare[];
}

/** Adds up the requests of a session, of its last exchange, and of all sessions below it. */
export const readTreeUsage: Operation<{ readonly id: string }, TreeUsage> = async (tx, { id }) => {
  const last = await tx.db
    .selectFrom("exchanges")
    .select("n")
    .where("session_id", "=", id)
    .where("begun_at", "is not", null)
    .orderBy("n", "desc")
    .limit(1)
    .executeTakeFirst();
  const models = await tx.db
    .selectFrom("model_calls")
    .select("model")
    .select(summedCalls())
    .where("session_id", "in", withinTree(id))
    .groupBy("model")
    .orderBy(sql`coalesce(sum(price_micros), -1)`, "desc")
    .orderBy("model")
    .execute();
  const session = await usageOfSession(tx, id);
  const tree = await usageOfTree(tx, { id });
  if (last === undefined) {
    return { exchange: null, session, tree, models };
  }
  const own = (await usageOfExchanges(tx, id, [last.n])).get(last.n) ?? NO_USAGE;
  const exchange = { own, tree: await usageOfExchangeTree(tx, { id, n: last.n }) };
  return { exchange, session, tree, models };
};

/** Adds up the usage of a session and all below it, by the sums of each. */
export const usageOfTree: Operation<{ readonly id: string }, Usage> = async (tx, { id }) => {
  const sums = USAGE_COLUMNS.map((name) => summed(name).as(name));
  const row = await tx.db
    .selectFrom("model_usage")
    .select(sums)
    .where("session_id", "in", withinTree(id))
    .executeTakeFirstOrThrow();
  return usageIn(row);
};

/** Adds up the usage of an exchange and the exchanges of its sub-agents. */
async function usageOfExchangeTree(
  tx: Tx,
  { id, n }: { readonly id: string; readonly n: number },
): Promise<Usage> {
  const total = await tx.db
    .selectFrom("model_calls")
    .select(summedCalls())
    .where(
      sql<boolean>`(session_id, n) in (
        with recursive part (id, n) as (
          select cast(${id} as text), cast(${n} as bigint)
          union
          select below.session_id, below.n from exchanges as below
          join sessions on sessions.id = below.session_id
          join part on sessions.parent_session_id = part.id and below.parent_n = part.n
        ) select id, n from part
      )`,
    )
    .executeTakeFirstOrThrow();
  return orNone(total);
}

/** A sum of no rows has no price; nothing has cost nothing. */
function orNone(total: Usage): Usage {
  return total.calls === 0 ? NO_USAGE : total;
}
