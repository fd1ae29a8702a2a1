import {
  CODE_MS,
  LOGIN_IDLE_MS,
  LOGIN_MAX_MS,
  LOGIN_TOUCH_MS,
  type Login,
} from "../../../core/access.ts";
import { newId } from "../../../core/ids.ts";
import { type Parameter, prepared, type QueryParts } from "../../prepared.ts";
import type { Operation, Tx } from "../../store.ts";
import { loggedIn, type LoginKind } from "../../../core/principal.ts";

/** Keeps a one-time code, and forgets those that have expired. */
export const addLoginCode: Operation<{ readonly hash: string }, void> = async (tx, { hash }) => {
  const { db, dialect } = tx;
  await db.deleteFrom("login_codes").where("expires_at", "<=", dialect.now()).execute();
  await db
    .insertInto("login_codes")
    .values({ hash, expires_at: dialect.now(CODE_MS) })
    .execute();
};

/** True for a code that can be used now. */
export const hasLoginCode: Operation<{ readonly hash: string }, boolean> = async (
  { db, dialect },
  { hash },
) => {
  const code = await db
    .selectFrom("login_codes")
    .select("hash")
    .where("hash", "=", hash)
    .where("expires_at", ">", dialect.now())
    .executeTakeFirst();
  return code !== undefined;
};

interface Entry {
  /** The login that the browser has had until now; it ends. */
  readonly earlier: string | null;
}

/** Uses a code up and makes a login, both or nothing; null if there is no such code, or no more. */
export const loginByCode: Operation<Entry & { readonly hash: string }, string | null> = async (
  tx,
  { hash, earlier },
) => {
  const used = await tx.db
    .deleteFrom("login_codes")
    .where("hash", "=", hash)
    .where("expires_at", ">", tx.dialect.now())
    .returning("hash")
    .execute();
  return used.length === 0 ? null : addLogin(tx, { kind: "code", share_id: null, earlier });
};

/** Makes a login for somebody whose token was checked. Returns its id. */
export const loginByToken: Operation<
  Entry & { readonly kind: "token" | "read_token" },
  string
> = async (tx, { kind, earlier }) => addLogin(tx, { kind, share_id: null, earlier });

/** Makes a login that shows the session of a link; null if there is no such link, or no more. */
export const loginByShare: Operation<Entry & { readonly hash: string }, string | null> = async (
  tx,
  { hash, earlier },
) => {
  const [share] = await tx.db
    .updateTable("session_shares")
    .set({ last_used_at: tx.dialect.now() })
    .where("hash", "=", hash)
    .where("expires_at", ">", tx.dialect.now())
    .returning("id")
    .execute();
  return share === undefined ? null : addLogin(tx, { kind: "share", share_id: share.id, earlier });
};

async function addLogin(
  { db, dialect }: Tx,
  { earlier, ...columns }: Entry & { readonly kind: LoginKind; readonly share_id: string | null },
): Promise<string> {
  await db
    .deleteFrom("page_logins")
    .where(({ eb, or }) =>
      or([
        eb("last_used_at", "<=", dialect.now(-LOGIN_IDLE_MS)),
        eb("created_at", "<=", dialect.now(-LOGIN_MAX_MS)),
        eb("id", "=", earlier ?? ""),
      ]),
    )
    .execute();
  const id = newId();
  await db
    .insertInto("page_logins")
    .values({ id, ...columns, created_at: dialect.now(), last_used_at: dialect.now() })
    .execute();
  return id;
}

/** A login that is valid now. */
export interface ValidLogin extends Login {
  readonly kind: LoginKind;
  /** True if its last use has to be written. */
  readonly isStale: boolean;
}

/** Null for a login that has ended, in whatever way. Its last use is not changed. */
export const readLogin: Operation<{ readonly id: string }, ValidLogin | null> = async (
  tx,
  { id },
) => {
  const [row] = await tx.rows(loginById, { id });
  if (row === undefined) {
    return null;
  }
  const { kind, session_id: session, last_used_at, stale_before } = row;
  const isStale = last_used_at < stale_before;
  return { id, principal: loggedIn(kind), session, expires_at: endOf(row), kind, isStale };
};

const loginById = prepared((parts, given: Parameter<{ id: string }>) =>
  validLogins(parts)
    .select(parts.dialect.now(-LOGIN_TOUCH_MS).as("stale_before"))
    .where("l.id", "=", given("id")),
);

/** `share_ends`: when its link does; null for a login without one. */
export function validLogins({ db, dialect }: QueryParts) {
  return db
    .selectFrom("page_logins as l")
    .leftJoin("session_shares as s", "s.id", "l.share_id")
    .select(["l.id", "l.kind", "l.created_at", "l.last_used_at", "s.session_id"])
    .select("s.expires_at as share_ends")
    .where("l.last_used_at", ">", dialect.now(-LOGIN_IDLE_MS))
    .where("l.created_at", ">", dialect.now(-LOGIN_MAX_MS))
    .where(({ eb, or }) =>
      or([eb("l.share_id", "is", null), eb("s.expires_at", ">", dialect.now())]),
    );
}

/** When a login ends that is not used again, as ISO 8601 in UTC. */
export function endOf(login: {
  readonly created_at: string;
  readonly last_used_at: string;
  readonly share_ends: string | null;
}): string {
  const { created_at, last_used_at, share_ends } = login;
  const ends = [after(last_used_at, LOGIN_IDLE_MS), share_ends ?? ""].filter((end) => end !== "");
  return ends.reduce((first, end) => (end < first ? end : first), after(created_at, LOGIN_MAX_MS));
}

function after(time: string, ms: number): string {
  return new Date(Date.parse(time) + ms).toISOString();
}

/** Writes that a login was used, unless that was written a short while ago. */
export const touchLogin: Operation<{ readonly id: string }, void> = async (
  { db, dialect },
  { id },
) => {
  await db
    .updateTable("page_logins")
    .set({ last_used_at: dialect.now() })
    .where("id", "=", id)
    .where("last_used_at", "<", dialect.now(-LOGIN_TOUCH_MS))
    .execute();
};

/** Ends a login, if it has not ended. */
export const endLogin: Operation<{ readonly id: string }, void> = async (tx, { id }) => {
  await tx.db.deleteFrom("page_logins").where("id", "=", id).execute();
};
