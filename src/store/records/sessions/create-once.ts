import { createHash } from "node:crypto";

import { RepriseError } from "../../../core/errors.ts";
import { CREATE_KEY_MS } from "../../../core/limits.ts";
import type { Session } from "../../../core/sessions.ts";
import { LIMIT_SCOPES, type ScopedLimits } from "../../../core/cost/limits.ts";
import type { Operation, Tx } from "../../store.ts";
import { createSession, type NewSession } from "./create.ts";
import { readSession } from "./read.ts";

export interface CreateOnce extends NewSession {
  /** A repeated request with the same key gets the same session, for `CREATE_KEY_MS`. */
  readonly create_key: string;
}

/**
 * Creates a session, or finds the one that an earlier request with this key created. Requests at
 * the same moment take turns. The key ends with its session.
 *
 * Error codes: as `createSession`; `idempotency_key_reused` if the earlier request was another one.
 */
export const createSessionOnce: Operation<CreateOnce, Session> = async (tx, input) => {
  const { create_key, ...columns } = input;
  const create_request = requestHash(columns);
  return onceByKey(tx, { create_key, create_request }, () => createSession(tx, columns));
};

/** Creates a session as `create` does, unless an earlier request with this key has created one. Error codes: as `createSessionOnce`. */
export async function onceByKey(
  tx: Tx,
  keyed: { readonly create_key: string; readonly create_request: string },
  create: () => Promise<Session>,
): Promise<Session> {
  const { create_key, create_request } = keyed;
  await tx.dialect.holdName(`create ${create_key}`)?.execute(tx.db);
  const earlier = await findEarlier(tx, create_key);
  if (earlier !== undefined) {
    if (earlier.create_request !== create_request) {
      throw new RepriseError(
        "idempotency_key_reused",
        "This Idempotency-Key was used to create another session; use a fresh key for a new session.",
      );
    }
    return readSession(tx, earlier);
  }
  const session = await create();
  await tx.db.updateTable("sessions").set(keyed).where("id", "=", session.id).execute();
  return session;
}

function findEarlier(tx: Tx, create_key: string) {
  return tx.db
    .selectFrom("sessions")
    .select(["id", "create_request"])
    .where("create_key", "=", create_key)
    .where("created_at", ">", tx.dialect.now(-CREATE_KEY_MS))
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** Hashes what the client asked for; `project_key` follows from the folder, and may change with links. */
export function requestHash(request: NewSession): string {
  const { persona_name, model, repo_path, token_limits = {}, metadata = {}, permission } = request;
  const { effort = null, cache = null, fallback = null, price_limits = {} } = request;
  const keys = Object.keys(metadata);
  // without limits, metadata, a mode and settings of the model the same as in versions that had none
  const asked = [persona_name ?? null, model ?? null, repo_path ?? null].concat(
    limitsIn(token_limits),
    keys.length === 0 ? [] : [JSON.stringify(metadata, keys.toSorted())],
    permission === undefined ? [] : [`permission ${permission}`],
    effort === null ? [] : [`effort ${effort}`],
    cache === null ? [] : [`cache ${cache}`],
    limitsIn(price_limits).map((limits) => `price ${limits}`),
    fallback === null ? [] : [`fallback ${JSON.stringify(fallback)}`],
  );
  return createHash("sha256").update(JSON.stringify(asked)).digest("hex");
}

/** None without a limit. */
function limitsIn(given: ScopedLimits): string[] {
  const limits = LIMIT_SCOPES.map((name) => given[name] ?? null);
  return limits.every((limit) => limit === null) ? [] : [JSON.stringify(limits)];
}
