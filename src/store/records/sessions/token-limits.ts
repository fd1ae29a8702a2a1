import { sql } from "kysely";

import type { LimitChoice } from "../../../core/questions.ts";
import {
  reachedLimit,
  readLimitCallId,
  TOKEN_LIMITS,
  type TokenLimit,
  type TokenLimits,
  type TokenUse,
} from "../../../core/token-limits.ts";
import { type Parameter, prepared } from "../../prepared.ts";
import type { Operation, Tx } from "../../store.ts";
import { holdActive } from "./change.ts";

/** The columns that hold limits. */
export function limitColumns(limits: TokenLimits) {
  return {
    exchange_limit: limits.exchange ?? null,
    session_limit: limits.session ?? null,
    tree_limit: limits.tree ?? null,
  };
}

/** With null, a limit is removed. */
export type LimitChanges = Readonly<Partial<Record<TokenLimit, number | null>>>;

/**
 * Sets the limits that are given, and keeps the others. Error codes: `session_not_found`,
 * `session_ended`.
 */
export const setTokenLimits: Operation<
  { readonly id: string; readonly limits: LimitChanges },
  void
> = async (tx, { id, limits }) => {
  await holdActive(tx, id);
  const set = TOKEN_LIMITS.filter((name) => limits[name] !== undefined);
  await tx.db
    .updateTable("sessions")
    .set(Object.fromEntries(set.map((name) => [`${name}_limit`, limits[name]])))
    .where("id", "=", id)
    .execute();
  tx.touch(id);
};

/** The limits of a session; `{}` if it has none. */
export const readTokenLimits: Operation<{ readonly id: string }, TokenLimits> = async (
  tx,
  { id },
) => {
  const row = await tx.db
    .selectFrom("sessions")
    .select(["exchange_limit", "session_limit", "tree_limit"])
    .where("id", "=", id)
    .executeTakeFirst();
  const limits = TOKEN_LIMITS.map((name) => [name, row?.[`${name}_limit`] ?? null] as const);
  return Object.fromEntries(limits.filter(([, limit]) => limit !== null));
};

/**
 * Reads what counts for the limits at the top of a session's tree, and for the session itself. Tokens without a limit
 * are not counted.
 */
export const readTokenUse: Operation<{ readonly id: string }, TokenUse> = async (tx, { id }) => {
  const [row] = await tx.rows(tokenUse, { id });
  const of = (name: TokenLimit) => {
    const limit = row?.[`${name}_limit`] ?? null;
    return { used: row?.[`${name}_used`] ?? 0, limit, set: limit };
  };
  const use = { exchange: of("exchange"), session: of("session"), tree: of("tree") };
  return row === undefined || reachedLimit(use) === null ? use : raised(tx, use, row);
};

const CONTINUE: LimitChoice = "continue";

/** With what a person has allowed besides: see `AskedLimit`. */
async function raised(
  tx: Tx,
  use: TokenUse,
  { root_id, open_n }: { readonly root_id: string; readonly open_n: number | null },
): Promise<TokenUse> {
  const rows = await tx.db
    .selectFrom("questions")
    .select("call_id")
    .where(({ and }) => and({ session_id: root_id, kind: "limit", answer: CONTINUE }))
    .execute();
  const allowed = rows.flatMap(({ call_id }) => readLimitCallId(call_id) ?? []);
  const of = (name: TokenLimit) => {
    const { used, set } = use[name];
    const counted = allowed.filter(
      ({ kind, limit, n }) =>
        kind === name && limit === set && (kind !== "exchange" || n === open_n),
    );
    const limit = set === null ? null : Math.max(set, ...counted.map((each) => each.raised));
    return { used, limit, set };
  };
  return { exchange: of("exchange"), session: of("session"), tree: of("tree") };
}

/** For a SELECT of `sessions`: see `LeaseState`. */
export const IS_LIMITED = sql<boolean | number>`exists (
  select 1 from sessions as root
  where root.id = sessions.root_session_id
    and coalesce(root.exchange_limit, root.session_limit, root.tree_limit) is not null
)`.as("is_limited");

const total = (table: string) =>
  sql.raw(`(${table}.total_input_tokens + ${table}.total_output_tokens)`);

const tokenUse = prepared(({ db }, given: Parameter<{ readonly id: string }>) =>
  db
    .selectFrom("sessions as own")
    .innerJoin("sessions as root", "root.id", "own.root_session_id")
    .leftJoin("exchanges as open", (join) =>
      join
        .onRef("open.session_id", "=", "root.id")
        .on("open.ended_at", "is", null)
        .on("open.state", "=", "running"),
    )
    .select([
      "root.id as root_id",
      "open.n as open_n",
      "root.exchange_limit",
      "root.tree_limit",
      sql<number | null>`case when own.id = root.id then root.session_limit end`.as(
        "session_limit",
      ),
      sql<number>`${total("own")}`.as("session_used"),
      sql<number | null>`case when root.tree_limit is not null then
        ${total("root")} + coalesce((
          select cast(sum(${total("below")}) as bigint) from sessions as below
          where below.root_session_id = root.id and below.id <> root.id
        ), 0) end`.as("tree_used"),
      sql<number | null>`case when root.exchange_limit is not null then
        ${total("root")} - coalesce(open.input_before + open.output_before, ${total("root")}) + coalesce((
          select cast(sum(coalesce(
            part.input_tokens + part.output_tokens,
            ${total("below")} - part.input_before - part.output_before
          )) as bigint)
          from sessions as below inner join exchanges as part on part.session_id = below.id
          where below.root_session_id = root.id and below.id <> root.id
            and part.begun_at >= open.begun_at
        ), 0) end`.as("exchange_used"),
    ])
    .where("own.id", "=", given("id")),
);
