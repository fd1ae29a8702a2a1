import { isRepriseError, RepriseError } from "../core/errors.ts";
import { invalidRequest } from "../core/invalid-request.ts";
import {
  DEFAULT_LIST_LIMIT,
  MAX_CONTENT_BYTES,
  MAX_DETAIL_BYTES,
  MAX_POSTPONED_DAYS,
  MAX_POSTPONED_MS,
} from "../core/limits.ts";
import type { Principal } from "../core/principal.ts";
import type { DetailQuery, ListQuery } from "../core/schemas/query-schemas.ts";
import type {
  CreateSessionRequest,
  QueueExchangeRequest,
  SessionSummary,
} from "../core/schemas/schemas.ts";
import { isRoot } from "../core/session-tree.ts";
import type { Session } from "../core/sessions.ts";
import type { QueueExchange } from "./records/exchanges/queue.ts";
import { queueAndRead, type Queued } from "./records/exchanges/queue-and-read.ts";
import { readLeaseState } from "./records/leases/lease.ts";
import { type Appended, appendUserMessage } from "./records/messages/append.ts";
import {
  type DetailText,
  readDetailWithin,
  readWholeDetail,
} from "./records/messages/detail-within.ts";
import type { SessionTree } from "./portable/export-schema.ts";
import { readSessionTree } from "./portable/read-tree.ts";
import { NO_PROJECT, projectOfFolder } from "./project-id.ts";
import { projectKeyOf } from "./project-key.ts";
import type { Operation, Store } from "./store.ts";
import { endSession } from "./records/sessions/change.ts";
import { createSession, type NewSession } from "./records/sessions/create.ts";
import { createSessionOnce } from "./records/sessions/create-once.ts";
import { deleteSessionTree, type DeletionPreview } from "./records/sessions/delete-tree.ts";
import { cursorOf, readCursor } from "./records/sessions/list-cursor.ts";
import { listSummaries } from "./records/sessions/list.ts";
import { type PatchSession, patchSession } from "./records/sessions/patch.ts";
import { readLimits } from "./records/sessions/limits.ts";
import { resolveSession } from "./records/sessions/read.ts";
import { costOf } from "../core/cost/cost-fields.ts";
import { readSummary } from "./records/sessions/summaries.ts";

/*
 * What callers of HTTP and of the library ask of sessions, once their requests were checked. Answers
 * that the database writes as JSON stay text.
 */

/** Refuses a session whose model has no known price. Error codes: `price_unknown`, `model_unknown`. */
type CheckPrice = (session: Pick<Session, "model" | "persona_name" | "repo_path">) => Promise<void>;

export interface Sender {
  readonly principal: Principal;
  /** Repeated with the same key, a request finds what the first one stored. */
  readonly idempotencyKey?: string | undefined;
  /** Called for a session with a limit of its price; without it, the exchange is refused when it runs. */
  readonly checkPrice?: CheckPrice | undefined;
}

/** Error codes: `idempotency_key_reused`, `price_unknown`. */
export async function createRequested(
  store: Store,
  {
    persona_name,
    model_override,
    repo_path,
    token_limits,
    price_limits,
    metadata,
    permission,
    effort = null,
    cache = null,
    fallback = null,
  }: CreateSessionRequest,
  { principal, idempotencyKey, checkPrice }: Sender,
): Promise<SessionSummary> {
  const columns = {
    persona_name: persona_name ?? null,
    model: model_override ?? null,
    repo_path: repo_path ?? null,
    ...(typeof repo_path === "string" ? await projectOfFolder(repo_path) : {}),
    principal,
    effort,
    cache,
    fallback,
    ...(token_limits === undefined ? {} : { token_limits }),
    ...(price_limits === undefined ? {} : { price_limits }),
    ...(permission === undefined ? {} : { permission }),
    ...(metadata === undefined ? {} : { metadata }),
  };
  if (price_limits !== undefined && Object.keys(price_limits).length > 0) {
    await checkPrice?.(columns);
  }
  const create: Operation<NewSession, Session> =
    idempotencyKey === undefined
      ? createSession
      : (tx, input) => createSessionOnce(tx, { ...input, create_key: idempotencyKey });
  return store.write(async (tx, input) => readSummary(tx, await create(tx, input)), columns);
}

/** Changes after which the price of another model may have to be known. */
const PRICED = ["price_limits", "model", "persona_name", "repo_path"] as const;

/** The session as it will be; null if it has no limit of its price then, or an agent that chooses its model itself. */
const readPriced: Operation<
  Pick<PatchSession, "reference" | "change">,
  Pick<Session, "model" | "persona_name" | "repo_path"> | null
> = async (tx, { reference, change }) => {
  const { id } = await resolveSession(tx, { reference });
  const { session, is_price_limited } = await readLeaseState(tx, { session_id: id });
  const { prices } = await readLimits(tx, { id });
  const own = Object.values({ ...prices, ...change.price_limits });
  const isLimited = isRoot(session) ? own.some((limit) => limit !== null) : is_price_limited;
  return isLimited && session.agent === null && session.state === "active"
    ? { ...session, ...change }
    : null;
};

/** A session with its new values. Error codes: as `patchSession`; `price_unknown`. */
export async function patchRequested(
  store: Store,
  reference: string,
  { change, principal, checkPrice }: Pick<PatchSession, "change"> & Sender,
): Promise<SessionSummary> {
  if (checkPrice !== undefined && PRICED.some((name) => change[name] !== undefined)) {
    const priced = await store.read(readPriced, { reference, change });
    if (priced !== null) {
      await checkPrice(priced);
    }
  }
  const { repo_path } = change;
  const project = repo_path === undefined ? NO_PROJECT : await projectOfFolder(repo_path);
  return store.write(patchSession, { reference, change, ...project, principal });
}

/** Error codes: `body_too_large`, and as `appendUserMessage`. */
export async function appendRequested(
  store: Store,
  { reference, content }: { readonly reference: string; readonly content: string },
  { principal, idempotencyKey }: Sender,
): Promise<Appended> {
  refuseLong(content);
  return store.write(appendUserMessage, {
    reference,
    content,
    principal,
    ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
  });
}

/** Error codes: `body_too_large`, and as `queueExchange`; as `checkPrice`. */
export async function queueRequested(
  store: Store,
  {
    reference,
    content,
    supersede = false,
    if_idle = false,
    not_before = null,
  }: QueueExchangeRequest & { readonly reference: string },
  { principal, idempotencyKey, checkPrice }: Sender,
): Promise<Queued> {
  if (content !== undefined) {
    refuseLong(content);
  }
  const asked_by = "http";
  const input = {
    reference,
    content: content ?? null,
    supersede,
    if_idle,
    asked_by,
    principal,
    idempotency_key: idempotencyKey,
    not_before: not_before === null ? null : postponedTo(not_before),
  } as const;
  return queuePriced(store, input, checkPrice);
}

/** Most sessions have no limit of their price: their price is not checked. Error codes: as `queueExchange` and `checkPrice`. */
export async function queuePriced(
  store: Store,
  input: QueueExchange,
  checkPrice: CheckPrice | undefined,
): Promise<Queued> {
  if (checkPrice !== undefined) {
    try {
      return await store.write(queueAndRead, { ...input, refusesPriceLimits: true });
    } catch (error) {
      if (!isRepriseError(error, "price_unknown")) {
        throw error;
      }
    }
    await checkPrice(await store.read(resolveSession, input));
  }
  return store.write(queueAndRead, input);
}

/** Returns the time as it is stored. Error codes: `invalid_request` if it is too far ahead. */
function postponedTo(time: string): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime()) || at.getTime() > Date.now() + MAX_POSTPONED_MS) {
    throw invalidRequest([
      {
        pointer: "/not_before",
        message: `Must be a time at most ${MAX_POSTPONED_DAYS} days ahead.`,
      },
    ]);
  }
  return at.toISOString();
}

/** Error codes: `body_too_large`. */
export function refuseLong(content: string): void {
  if (Buffer.byteLength(content) > MAX_CONTENT_BYTES) {
    throw new RepriseError(
      "body_too_large",
      "The message is too long; content holds 1 MiB of UTF-8 text at most, so send it in parts.",
    );
  }
}

/** In one transaction: no other session can come to match the prefix in between. */
export const endRequested: Operation<{ readonly reference: string }, Session> = async (
  tx,
  input,
) => {
  const { id } = await resolveSession(tx, input);
  return endSession(tx, { id });
};

/** Deletes a session with its sub-agents, in one transaction. Error codes: as `resolveSession` and `deleteSessionTree`. */
export const deleteRequested: Operation<
  { readonly reference: string },
  readonly DeletionPreview[]
> = async (tx, input) => {
  const { id } = await resolveSession(tx, input);
  return deleteSessionTree(tx, { id });
};

/** A session with its sub-agents. Error codes: as `resolveSession` and `readSessionTree`. */
export const exportRequested: Operation<{ readonly reference: string }, SessionTree> = async (
  tx,
  input,
) => {
  const { id } = await resolveSession(tx, input);
  return readSessionTree(tx, { id });
};

/** A page as JSON, and the cursor of the next one. Error codes: `invalid_request`. */
export async function listRequested(
  store: Store,
  {
    cursor,
    limit = DEFAULT_LIST_LIMIT,
    parent,
    forked_from,
    repo_path,
    metadata,
    ...filters
  }: ListQuery & { readonly max_bytes?: number },
): Promise<{ readonly json: string; readonly next: string | null }> {
  const { order = "activity" } = filters;
  const { json, next } = await store.read(listSummaries, {
    ...filters,
    limit,
    ...(parent === undefined ? {} : { parent_session_id: parent }),
    ...(forked_from === undefined ? {} : { forked_from_session_id: forked_from }),
    ...(repo_path === undefined ? {} : { folder_key: await projectKeyOf(repo_path) }),
    ...(metadata === undefined ? {} : { metadata: pairOf(metadata) }),
    ...(cursor === undefined ? {} : { after: readCursor(cursor, order) }),
  });
  return { json, next: next === null ? null : cursorOf(next, order) };
}

/** A value may have colons too. */
function pairOf(text: string): { readonly key: string; readonly value: string } {
  const colon = text.indexOf(":");
  return { key: text.slice(0, colon), value: text.slice(colon + 1) };
}

/** A SessionDetail as JSON. Error codes: as `readDetailWithin`. */
export async function detailRequested(
  store: Store,
  reference: string,
  { all = false, max_bytes = MAX_DETAIL_BYTES, ...before }: LimitedDetail,
): Promise<string> {
  const input = { reference, all, ...before, max_bytes };
  return detailJson(await store.read(readDetailWithin, input));
}

interface LimitedDetail extends DetailQuery {
  readonly max_bytes?: number;
}

/** Reads the same, or returns null if not all of the messages fit. */
export async function wholeDetailRequested(
  store: Store,
  reference: string,
  { all = false, ...before }: LimitedDetail & { readonly max_bytes: number },
): Promise<string | null> {
  const detail = await store.read(readWholeDetail, { reference, all, ...before });
  return detail === null ? null : detailJson(detail);
}

function detailJson({ summary, usage, json, has_earlier }: DetailText): string {
  const cost = JSON.stringify(costOf(usage)).slice(1, -1);
  return `${summary.slice(0, -1)},${cost},"messages":${json},"has_earlier":${has_earlier}}`;
}
