import type { LoginKind } from "../../../core/principal.ts";
import { RepriseError } from "../../../core/errors.ts";
import type { Operation, Tx } from "../../store.ts";
import { endOf, validLogins } from "./logins.ts";
import { deleteShare } from "./shares.ts";

/** A browser that is logged in, or a link (`link`). Times are ISO 8601 in UTC. */
export interface AccessEntry {
  readonly id: string;
  readonly kind: LoginKind | "link";
  readonly created_at: string;
  readonly last_used_at: string | null;
  /** When it ends if it is not used again. */
  readonly expires_at: string;
  /** Session that a link shows, and who came by one. */
  readonly session_id: string | null;
}

/** All logins and links that are valid now, the oldest first. */
export const listAccess: Operation<null, AccessEntry[]> = async (tx) => {
  const entries = [...(await readLinks(tx)), ...(await readLogins(tx))];
  return entries.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
};

function keyOf({ created_at, id }: AccessEntry): string {
  return `${created_at} ${id}`;
}

async function readLinks({ db, dialect }: Tx): Promise<AccessEntry[]> {
  const rows = await db
    .selectFrom("session_shares")
    .select(["id", "created_at", "last_used_at", "expires_at", "session_id"])
    .where("expires_at", ">", dialect.now())
    .execute();
  return rows.map((row) => ({ ...row, kind: "link" }));
}

async function readLogins(tx: Tx): Promise<AccessEntry[]> {
  const rows = await validLogins(tx).execute();
  return rows.map((row) => {
    const { share_ends: _, ...entry } = row;
    return { ...entry, expires_at: endOf(row) };
  });
}

/** Ends a login or a link, by its id; the logins of a link with it. Error codes: `access_not_found`. */
export const revokeAccess: Operation<{ readonly id: string }, void> = async (tx, { id }) => {
  const ended = await tx.db
    .deleteFrom("page_logins")
    .where("id", "=", id)
    .returning("id")
    .execute();
  if (ended.length === 0 && !(await deleteShare(tx, { id }))) {
    throw noAccess();
  }
};

export function noAccess(): RepriseError {
  return new RepriseError(
    "access_not_found",
    "No login or link has this id; `reprise tokens list` shows those that are valid.",
  );
}
