import { sessionAck } from "../core/schemas/answers.ts";
import { requireOptions } from "../core/options.ts";
import { type Principal, localPrincipal } from "../core/principal.ts";
import type { PatchSessionRequest } from "../core/schemas/patch-session.ts";
import type { DetailQuery, ListQuery } from "../core/schemas/query-schemas.ts";
import type {
  CreateSessionRequest,
  SessionAck,
  SessionDetail,
  SessionSummary,
} from "../core/schemas/schemas.ts";
import {
  appendRequested,
  createRequested,
  detailRequested,
  endRequested,
  listRequested,
  patchRequested,
} from "../store/requests.ts";
import { localUser } from "../store/records/leases/local-user.ts";
import type { Store } from "../store/store.ts";
import { createRequestCheck, requireSessionReference } from "./check-request.ts";

/**
 * The sessions of a database, with the rules and fields of the HTTP API. An id may be a prefix of 6 or
 * more characters.
 *
 * Error codes of all: `invalid_request`, `database_*`; of those that take an id: `session_not_found`,
 * `ambiguous_id`.
 */
export interface Sessions {
  /** With an `idempotencyKey`, a repeated call finds the session that the first one created. */
  create(
    request?: CreateSessionRequest,
    options?: { readonly idempotencyKey?: string },
  ): Promise<SessionSummary>;
  /** The last 200 messages at most; archived ones with `all`. */
  get(id: string, query?: DetailQuery): Promise<SessionDetail>;
  list(query?: ListQuery): Promise<ListedSessions>;
  /**
   * Stores a message of the user without running an agent. With an `idempotencyKey`, a repeated call
   * stores the message once.
   *
   * Error codes: `session_ended`, `body_too_large`, `idempotency_key_reused`.
   */
  append(
    id: string,
    content: string,
    options?: { readonly idempotencyKey?: string },
  ): Promise<SessionAck>;
  /**
   * Changes what is given, all or nothing, and keeps the rest: `name`, `model`, `persona_name`, `plan_mode`,
   * `metadata`, `archived`, `token_limits` (in tokens), `effort`, `cache`, `fallback`, `permission` (what a person is asked), and `repo_path` of a session without a folder. Null removes
   * a name, a limit or a pair of metadata. Another model or persona begins a fresh thread; with
   * `context: "keep"` another model continues the thread.
   *
   * Error codes: `session_ended` for all but `name`, `metadata` and `archived`; while an exchange runs,
   * `session_busy` for `model`, `persona_name`, `plan_mode` and `repo_path`; while one waits for an answer, for a model
   * with `context: "keep"`.
   */
  patch(id: string, change: PatchSessionRequest): Promise<SessionSummary>;
  /** Ends a session; ending it again changes nothing. */
  end(id: string): Promise<SessionAck>;
}

export interface ListedSessions {
  readonly sessions: readonly SessionSummary[];
  /** Give it as `cursor` for the page that follows; null on the last one. */
  readonly next: string | null;
}

/** A program that has the database acts for its user. */
export const PROGRAM: Principal = {
  ...localPrincipal("prompt", null),
  get user_id() {
    return localUser();
  },
};

export function sessionsOf(store: Store): Sessions {
  const checked = createRequestCheck();
  const sender = async (options: { readonly idempotencyKey?: string } = {}) => {
    const { idempotencyKey } = requireOptions(options, "invalid_request");
    const key = idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey };
    await checked("key", key);
    return { principal: PROGRAM, idempotencyKey };
  };
  return {
    create: async (request = {}, options) => {
      const body = await checked("create", request);
      return createRequested(store, body, await sender(options));
    },
    get: async (id, query = {}) => {
      const reference = requireSessionReference(id);
      const detail = await checked("detail", query);
      return JSON.parse(await detailRequested(store, reference, detail)) as SessionDetail;
    },
    list: async (query = {}) => {
      const { json, next } = await listRequested(store, await checked("list", query));
      return { sessions: JSON.parse(json) as SessionSummary[], next };
    },
    append: async (id, text, options) => {
      const reference = requireSessionReference(id);
      const { content } = await checked("append", { content: text });
      const given = { reference, content };
      const { session, message } = await appendRequested(store, given, await sender(options));
      return sessionAck(session, message.seq);
    },
    patch: async (id, request) => {
      const reference = requireSessionReference(id);
      const change = await checked("patch", request);
      return patchRequested(store, reference, { change, principal: PROGRAM });
    },
    end: async (id) => {
      const reference = requireSessionReference(id);
      const session = await store.write(endRequested, { reference });
      return sessionAck(session, session.last_seq);
    },
  };
}
