import type {
  CreateSessionRequest,
  ExchangeInfo,
  MessageInfo,
  SessionAck,
  SessionDetail,
  SessionSummary,
} from "../core/schemas.ts";
import type { ListOrder, SessionState } from "../core/sessions.ts";
import { type ClientOptions, createConnection } from "./connection.ts";
import { type FollowOptions, followStream } from "./follow.ts";

export interface SessionPage {
  readonly sessions: readonly SessionSummary[];
  /** Give it as `cursor` for the page that follows; null on the last one. */
  readonly next: string | null;
}

/**
 * The HTTP API, typed. It uses no Node.js API: in a browser, import it from `reprise/client`. Every
 * call throws a ClientError with the service's own code, or `unreachable` or `bad_answer`; an id may
 * be a prefix of 6 or more characters.
 */
export interface Client {
  listSessions(options?: ListOptions): Promise<SessionPage>;
  createSession(request?: CreateSessionRequest): Promise<SessionSummary>;
  getSession(id: string, options?: { all?: boolean; before_seq?: number }): Promise<SessionDetail>;
  /** With an `idempotencyKey`, a repeated call stores the message once. */
  postMessage(
    id: string,
    content: string,
    options?: { idempotencyKey?: string },
  ): Promise<SessionAck>;
  endSession(id: string): Promise<SessionAck>;
  /** The latest first. Give the `n` of the last one as `before_n` for those before it. */
  listExchanges(
    id: string,
    options?: { limit?: number; before_n?: number },
  ): Promise<readonly ExchangeInfo[]>;
  getExchange(id: string, n: number): Promise<ExchangeInfo>;
  /** Each message of the session once, in order, until the session has ended. See `followStream`. */
  followSession(id: string, options?: FollowOptions): AsyncGenerator<MessageInfo, void>;
}

export interface ListOptions {
  readonly limit?: number;
  /** `activity` by default; with `created`, pages lose no session that gets a message meanwhile. */
  readonly order?: ListOrder;
  readonly state?: SessionState;
  readonly project_key?: string;
  readonly cursor?: string;
}

export function createClient(options: ClientOptions): Client {
  const connection = createConnection(options);
  return {
    listSessions: async (query = {}) => {
      const { body, headers } = await connection.call<SessionSummary[]>("GET", "/api/sessions", {
        query: { ...query },
      });
      return { sessions: body, next: nextCursor(headers.get("link")) };
    },
    createSession: async (body = {}) =>
      (await connection.call<SessionSummary>("POST", "/api/sessions", { body })).body,
    getSession: async (id, query = {}) =>
      (await connection.call<SessionDetail>("GET", pathOf(id), { query: { ...query } })).body,
    postMessage: async (id, content, { idempotencyKey } = {}) => {
      const headers = { "idempotency-key": idempotencyKey };
      const message = { body: { content }, headers };
      return (await connection.call<SessionAck>("POST", `${pathOf(id)}/messages`, message)).body;
    },
    endSession: async (id) => (await connection.call<SessionAck>("POST", `${pathOf(id)}/end`)).body,
    listExchanges: async (id, query = {}) =>
      (
        await connection.call<ExchangeInfo[]>("GET", `${pathOf(id)}/exchanges`, {
          query: { ...query },
        })
      ).body,
    getExchange: async (id, n) =>
      (await connection.call<ExchangeInfo>("GET", `${pathOf(id)}/exchanges/${n}`)).body,
    followSession: (id, follow = {}) => followStream(connection, `${pathOf(id)}/stream`, follow),
  };
}

function pathOf(id: string): string {
  return `/api/sessions/${encodeURIComponent(id)}`;
}

function nextCursor(link: string | null): string | null {
  const target = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link ?? "")?.[1];
  return target === undefined
    ? null
    : new URL(target, "http://reprise.invalid").searchParams.get("cursor");
}
