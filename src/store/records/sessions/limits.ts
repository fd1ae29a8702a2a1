import { type RawBuilder, sql } from "kysely";

import {
  type Limit,
  LIMIT_SCOPES,
  type LimitScope,
  type LimitUse,
  priceLimit,
  reachedLimit,
  readLimitCallId,
  type ScopedLimits,
} from "../../../core/cost/limits.ts";
import type { LimitChoice } from "../../../core/questions.ts";
import { type Parameter, prepared } from "../../prepared.ts";
import type { Operation, Tx } from "../../store.ts";
import { holdActive } from "./change.ts";

/** The columns that hold limits, of tokens and of the price. */
export function limitColumns(tokens: ScopedLimits, prices: ScopedLimits) {
  return {
    exchange_limit: tokens.exchange ?? null,
    session_limit: tokens.session ?? null,
    tree_limit: tokens.tree ?? null,
    exchange_price_limit: prices.exchange ?? null,
    session_price_limit: prices.session ?? null,
    tree_price_limit: prices.tree ?? null,
  };
}

/** With null, a limit is removed. */
export type LimitChanges = Readonly<Partial<Record<LimitScope, number | null>>>;

/** Limits of tokens and of the price that change. */
export interface SetLimits {
  readonly id: string;
  readonly tokens?: LimitChanges | undefined;
  readonly prices?: LimitChanges | undefined;
}

/**
 * Sets the limits that are given, and keeps the others. Error codes: `session_not_found`,
 * `session_ended`.
 */
export const setLimits: Operation<SetLimits, void> = async (tx, { id, tokens, prices }) => {
  await holdActive(tx, id);
  const columns = [...columnsOf(tokens, (scope) => scope), ...columnsOf(prices, priceLimit)];
  await tx.db
    .updateTable("sessions")
    .set(Object.fromEntries(columns))
    .where("id", "=", id)
    .execute();
  tx.touch(id);
};

function columnsOf(limits: LimitChanges = {}, nameOf: (scope: LimitScope) => Limit) {
  return LIMIT_SCOPES.filter((scope) => limits[scope] !== undefined).map(
    (scope) => [`${nameOf(scope)}_limit`, limits[scope]] as const,
  );
}

/** The limits of a session; `{}` if it has none of a kind. */
export interface SessionLimits {
  readonly tokens: ScopedLimits;
  readonly prices: ScopedLimits;
}

export const readLimits: Operation<{ readonly id: string }, SessionLimits> = async (tx, { id }) => {
  const row = await tx.db
    .selectFrom("sessions")
    .select(["exchange_limit", "session_limit", "tree_limit"])
    .select(["exchange_price_limit", "session_price_limit", "tree_price_limit"])
    .where("id", "=", id)
    .executeTakeFirst();
  const of = (nameOf: (scope: LimitScope) => Limit): ScopedLimits => {
    const limits = LIMIT_SCOPES.map((scope) => [scope, row?.[`${nameOf(scope)}_limit`] ?? null]);
    return Object.fromEntries(limits.filter(([, limit]) => limit !== null));
  };
  return { tokens: of((scope) => scope), prices: of(priceLimit) };
};

/**
 * Reads what counts for the limits at the top of a session's tree, and for the session itself. What has no limit is not
 * counted.
 */
export const readLimitUse: Operation<{ readonly id: string }, LimitUse> = async (tx, { id }) => {
  const [row] = await tx.rows(tokenUse, { id });
  const tokens = (name: LimitScope) => {
    const limit = row?.[`${name}_limit`] ?? null;
    return { used: row?.[`${name}_used`] ?? 0, limit, set: limit };
  };
  const use = {
    exchange: tokens("exchange"),
    session: tokens("session"),
    tree: tokens("tree"),
    ...(await readPriceUse(tx, id)),
  };
  return row === undefined || reachedLimit(use) === null ? use : raised(tx, use, row);
};

const CONTINUE: LimitChoice = "continue";

/** With what a person has allowed besides: see `AskedLimit`. */
async function raised(
  tx: Tx,
  use: LimitUse,
  { root_id, open_n }: { readonly root_id: string; readonly open_n: number | null },
): Promise<LimitUse> {
  const rows = await tx.db
    .selectFrom("questions")
    .select("call_id")
    .where(({ and }) => and({ session_id: root_id, kind: "limit", answer: CONTINUE }))
    .execute();
  const allowed = rows.flatMap(({ call_id }) => readLimitCallId(call_id) ?? []);
  const of = (name: Limit) => {
    const { set } = use[name];
    const counted = allowed.filter(
      ({ kind, limit, n }) =>
        kind === name && limit === set && (!name.startsWith("exchange") || n === open_n),
    );
    const limit = set === null ? null : Math.max(set, ...counted.map((each) => each.raised));
    return { ...use[name], limit };
  };
  return {
    exchange: of("exchange"),
    session: of("session"),
    tree: of("tree"),
    exchange_price: of("exchange_price"),
    session_price: of("session_price"),
    tree_price: of("tree_price"),
  };
}

/** For a SELECT of `sessions`: see `LeaseState`. */
export const IS_LIMITED = rootHas(
  "exchange_limit",
  "session_limit",
  "tree_limit",
  "exchange_price_limit",
  "session_price_limit",
  "tree_price_limit",
).as("is_limited");
export const IS_PRICE_LIMITED = rootHas(
  "exchange_price_limit",
  "session_price_limit",
  "tree_price_limit",
).as("is_price_limited");

/** True if the session at the top of the tree has a value in one of these columns. */
function rootHas(...columns: readonly `${Limit}_limit`[]) {
  const values = sql.join(columns.map((column) => sql.ref(`root.${column}`)));
  return sql<boolean | number>`exists (
    select 1 from sessions as root
    where root.id = sessions.root_session_id and coalesce(${values}) is not null
  )`;
}

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

const PRICE_LIMITS = ["exchange_price", "session_price", "tree_price"] as const;

/** Cost of the requests of each scope, read only as far as there is a limit. */
async function readPriceUse(tx: Tx, id: string) {
  const [row] = await tx.rows(priceUse, { id });
  const of = (name: (typeof PRICE_LIMITS)[number]) => {
    const limit = row?.[`${name}_limit`] ?? null;
    const isAtLeast = (row?.[`${name}_missing`] ?? 0) > 0;
    return { used: row?.[`${name}_used`] ?? 0, limit, set: limit, isAtLeast };
  };
  return {
    exchange_price: of("exchange_price"),
    session_price: of("session_price"),
    tree_price: of("tree_price"),
  };
}

const priceUse = prepared(({ db }, given: Parameter<{ readonly id: string }>) =>
  db
    .selectFrom("sessions as own")
    .innerJoin("sessions as root", "root.id", "own.root_session_id")
    .select([
      "root.exchange_price_limit",
      "root.tree_price_limit",
      sql<number | null>`case when own.id = root.id then root.session_price_limit end`.as(
        "session_price_limit",
      ),
      ...ofUsage("session_price", sql`model_usage.session_id = own.id`),
      ...ofUsage(
        "tree_price",
        sql`model_usage.session_id in (
          select below.id from sessions as below where below.root_session_id = root.id
        )`,
      ),
      ofOpenExchange(sql`sum(calls.price_micros)`).as("exchange_price_used"),
      ofOpenExchange(sql`count(*) - count(calls.price_micros)`).as("exchange_price_missing"),
    ])
    .where("own.id", "=", given("id")).where(sql<boolean>`coalesce(
      root.exchange_price_limit, root.session_price_limit, root.tree_price_limit
    ) is not null`),
);

function ofUsage<Name extends string>(name: Name, where: RawBuilder<unknown>) {
  const sum = (column: string) =>
    sql<number | null>`(
      select cast(sum(${sql.ref(column)}) as bigint) from model_usage where ${where}
    )`;
  return [
    sum("model_usage.cost_micros").as(`${name}_used` as const),
    sum("model_usage.unpriced").as(`${name}_missing` as const),
  ] as const;
}

/** A sum over the requests of the root's exchange that runs, and of all that began below it since. */
function ofOpenExchange(sum: RawBuilder<unknown>) {
  return sql<number | null>`(
    select cast(${sum} as bigint) from exchanges as open
    inner join sessions as part on part.root_session_id = root.id
    inner join exchanges as record on record.session_id = part.id
    inner join model_calls as calls on calls.session_id = part.id and calls.n = record.n
    where open.session_id = root.id and open.ended_at is null and open.state = 'running'
      and case when part.id = root.id then record.n = open.n else record.begun_at >= open.begun_at end
  )`;
}
