import type { SearchInfo } from "../core/schemas/search-schemas.ts";
import type { LiveEvent } from "../core/schemas/live.ts";
import type { PatchSessionRequest } from "../core/schemas/patch-session.ts";
import type { ExportQuery, QuestionsQuery, ReasoningQuery } from "../core/schemas/query-schemas.ts";
import type {
  CreateSessionRequest,
  DeletedSession,
  ExchangeDetail,
  ExchangeInfo,
  ListedExchange,
  MessageInfo,
  AnswerRequest,
  QuestionInfo,
  QueuedExchangeInfo,
  ReasoningInfo,
  SessionAck,
  SessionDetail,
  SessionSummary,
} from "../core/schemas/schemas.ts";
import type { VerificationInfo } from "../core/schemas/service-schemas.ts";
import type { SessionEvent } from "../core/schemas/session-events.ts";
import type { Activity, ListOrder, MessageOrder, SessionState } from "../core/sessions.ts";
import { type ArtifactCalls, artifactCalls } from "./artifacts.ts";
import { type ChangeCalls, changeCalls } from "./changes.ts";
import { type ClientOptions, createConnection, nextOf } from "./connection.ts";
import {
  type EventsOptions,
  followEvents,
  followLive,
  type FollowOptions,
  followStream,
  type LiveOptions,
} from "./follow.ts";
import { type PlanRunCalls, planRunCalls } from "./plan-runs.ts";
import { runExchange, type RunOptions } from "./run.ts";
import { type ServiceCalls, serviceCalls } from "./service.ts";
import { type ShareCalls, shareCalls } from "./shares.ts";

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
export interface Client extends ArtifactCalls, ChangeCalls, PlanRunCalls, ServiceCalls, ShareCalls {
  listSessions(options?: ListOptions): Promise<SessionPage>;
  /**
   * Creates a session. `onWarning` gets `folder_missing` or `folder_not_served` if its exchanges would fail, or wait
   * for a service that runs them, because of its folder; later versions may add others.
   */
  createSession(request?: CreateSessionRequest, options?: WarningOptions): Promise<SessionSummary>;
  getSession(id: string, options?: DetailOptions): Promise<SessionDetail>;
  /** The oldest first, or with `order: "desc"` the latest. */
  listMessages(id: string, options?: MessagesOptions): Promise<MessagePage>;
  /** Thoughts of the model before the answers between two positions, as far as its provider shows it. */
  listReasoning(id: string, options?: ReasoningQuery): Promise<readonly ReasoningInfo[]>;
  /** With an `idempotencyKey`, a repeated call stores the message once. */
  postMessage(
    id: string,
    content: string,
    options?: { idempotencyKey?: string },
  ): Promise<SessionAck>;
  endSession(id: string): Promise<SessionAck>;
  /**
   * Makes a session that continues from a message of another one, at the end of the last exchange up to `at_seq`, which `forked_from`
   * names. With an `idempotencyKey`, a repeated call gets the same fork.
   */
  forkSession(
    id: string,
    options?: { at_seq?: number; idempotencyKey?: string },
  ): Promise<SessionSummary>;
  /**
   * Deletes a session with its sub-agents for good. Returns what was deleted, each after its parent.
   *
   * Needs a token. Codes among others: `session_busy` while an exchange runs, `token_required`.
   */
  deleteSession(id: string): Promise<readonly DeletedSession[]>;
  /**
   * Changes what is given and keeps the rest; null removes a name, a limit or a pair of metadata. `onWarning` gets
   * `cache_restarts` if the provider reads the conversation once more because of another effort or cache. Codes
   * among others: `session_ended`, `session_busy`, `token_required`.
   */
  patchSession(
    id: string,
    change: PatchSessionRequest,
    options?: WarningOptions,
  ): Promise<SessionSummary>;
  /** Messages, names and titles that have all words of the query, in all sessions. Code among others: `search_off`. */
  searchMessages(query: string, options?: SearchOptions): Promise<SearchPage>;
  /**
   * Returns what `reprise sessions export` writes, as text: `sessions import` reads it, unless `format` is one for
   * people. With `redact`, secrets and other texts that nobody would publish are left out.
   */
  exportSession(id: string, options?: ExportQuery): Promise<string>;
  /** Whether the messages are those of the agent's checkpoints. Changes nothing. */
  verifySession(id: string): Promise<VerificationInfo>;
  /** The latest first. Give the `n` of the last one as `before_n` for those before it. */
  listExchanges(
    id: string,
    options?: { limit?: number; before_n?: number },
  ): Promise<readonly ListedExchange[]>;
  /** `content` is its message if it has not begun, also if it ended before it could. */
  getExchange(id: string, n: number): Promise<ExchangeDetail>;
  /**
   * Queues a message, which a running service answers after the exchanges before it. Null continues
   * what was interrupted, or hands over pending messages. With an `idempotencyKey`, a repeated call
   * finds the exchange that the first one queued. `runnable` is false if no service runs it now. With
   * `supersede`, the message does not wait for the answers to open questions: they are withdrawn.
   *
   * Needs a token. Codes among others: `session_ended`, `session_busy`, `nothing_to_continue`,
   * `question_open`, `token_required`.
   */
  queueExchange(
    id: string,
    content: string | null,
    options?: {
      idempotencyKey?: string;
      supersede?: boolean;
      /** True to be refused with `session_busy` or `question_open` while another exchange is queued, runs or waits. */
      ifIdle?: boolean;
      /** ISO 8601, at most 31 days ahead: no node runs it before. */
      notBefore?: string;
    },
  ): Promise<QueuedExchangeInfo>;
  /**
   * Stops an exchange. One that runs is still `running` in the answer; its process stops it soon and
   * keeps the text that had arrived. Code among others: `exchange_ended`.
   */
  stopExchange(id: string, n: number): Promise<ExchangeInfo>;
  /**
   * Changes the message of a queued exchange. With a `revision`, only if the exchange still has it.
   * Codes among others: `exchange_begun`, `exchange_changed`.
   */
  changeExchange(
    id: string,
    n: number,
    content: string,
    options?: RevisionOptions,
  ): Promise<ExchangeInfo>;
  /** Takes a queued exchange back; it is then `stopped`. Codes as of `changeExchange`. */
  withdrawExchange(id: string, n: number, options?: RevisionOptions): Promise<ExchangeInfo>;
  /** Questions of the session and its sub-agents, the oldest first; with `answered`, also those that were answered. */
  listQuestions(id: string, options?: QuestionsQuery): Promise<readonly QuestionInfo[]>;
  /**
   * Answers a question; the first answer counts. With the last one of the session that asks, the exchange
   * that waits is queued.
   *
   * Needs a token. Codes among others: `question_answered`, `question_withdrawn`, `invalid_request`
   * for an answer that is not one of the choices.
   */
  answerQuestion(id: string, question: string, answer: AnswerRequest): Promise<QuestionInfo>;
  /** Each message of the session once, in order, until the session has ended. See `followStream`. */
  followSession(id: string, options?: FollowOptions): AsyncGenerator<MessageInfo, void>;
  /**
   * Yields what happens in the session now, until it has ended: texts of answers while they are written, messages,
   * and the states of the exchange. See `followLive`.
   */
  live(id: string, options?: LiveOptions): AsyncGenerator<LiveEvent, void>;
  /** Yields what changes in all sessions, for lists of them. See `followEvents`. */
  events(options?: EventsOptions): AsyncGenerator<SessionEvent, void>;
  /** Sends a message, and yields what happens while it is answered. See `runExchange`. */
  run(id: string, content: string, options?: RunOptions): AsyncGenerator<LiveEvent, ExchangeInfo>;
}

export interface RevisionOptions {
  readonly revision?: number;
}

export interface DetailOptions {
  readonly all?: boolean;
  readonly before_seq?: number;
  /** False for the session alone: `messages` is empty, `has_earlier` true if there are any. */
  readonly messages?: boolean;
}

export interface MessagesOptions {
  readonly limit?: number;
  readonly order?: MessageOrder;
  readonly after_seq?: number;
  readonly before_seq?: number;
  /** True to see archived messages too. */
  readonly all?: boolean;
}

export interface MessagePage {
  readonly messages: readonly MessageInfo[];
  /** Give it as `after_seq`, or `before_seq` with `desc`, for the page that follows; null on the last one. */
  readonly next: number | null;
}

export interface ListOptions {
  readonly limit?: number;
  /** `activity` by default; with `created`, pages lose no session that gets a message meanwhile. */
  readonly order?: ListOrder;
  readonly state?: SessionState;
  readonly project_key?: string;
  /** The full id of a session, for its direct sub-agents. */
  readonly parent?: string;
  /** The full id of a session, for its forks. */
  readonly forked_from?: string;
  /** True for sessions that are nobody's sub-agent. */
  readonly roots?: boolean;
  readonly activity?: Activity;
  /** An absolute path on the service's machine. */
  readonly repo_path?: string;
  /** The beginning of the name or the title, in upper or lower case. */
  readonly title?: string;
  /** True for archived sessions alone, false for the others. */
  readonly archived?: boolean;
  /** True for pinned sessions alone, false for the others. */
  readonly pinned?: boolean;
  /** A pair as `key:value`. */
  readonly metadata?: string;
  readonly cursor?: string;
}

export interface SearchOptions {
  /** 20 by default, 50 at most. */
  readonly limit?: number;
  readonly role?: "user" | "assistant" | "tool";
  /** A day or a time in UTC. */
  readonly since?: string;
  /** An absolute path on the service's machine. */
  readonly repo_path?: string;
  /** True to find archived sessions and messages, too. */
  readonly archived?: boolean;
  readonly cursor?: string;
}

export interface SearchPage extends SearchInfo {
  /** Cursor of the next page; null on the last one. */
  readonly next: string | null;
}

export interface WarningOptions {
  /** Called with the code of a warning; later versions may add others. */
  readonly onWarning?: (code: string) => void;
}

export function createClient(options: ClientOptions): Client {
  const connection = createConnection(options);
  const post = <Answer>(path: string, body: object, key?: string): Promise<Answer> =>
    connection.json<Answer>("POST", path, { body, headers: { "idempotency-key": key } });
  const client: Client = {
    listSessions: async (query = {}) => {
      const { body, headers } = await connection.call<SessionSummary[]>("GET", "/api/sessions", {
        query,
      });
      return { sessions: body, next: nextOf(headers, "cursor") };
    },
    searchMessages: async (q, query = {}) => {
      const { body, headers } = await connection.call<SearchInfo>("GET", "/api/search", {
        query: { q, ...query },
      });
      return { ...body, next: nextOf(headers, "cursor") };
    },
    createSession: async (body = {}, options) =>
      warned(await connection.call<SessionSummary>("POST", "/api/sessions", { body }), options),
    getSession: (id, query = {}) => connection.json<SessionDetail>("GET", pathOf(id), { query }),
    listMessages: async (id, query = {}) => {
      const path = `${pathOf(id)}/messages`;
      const { body, headers } = await connection.call<MessageInfo[]>("GET", path, {
        query,
      });
      const next = nextOf(headers, query.order === "desc" ? "before_seq" : "after_seq");
      return { messages: body, next: next === null ? null : Number(next) };
    },
    listReasoning: (id, query = {}) =>
      connection.json<ReasoningInfo[]>("GET", `${pathOf(id)}/reasoning`, { query }),
    postMessage: (id, content, { idempotencyKey } = {}) =>
      post(`${pathOf(id)}/messages`, { content }, idempotencyKey),
    patchSession: async (id, body, options) =>
      warned(await connection.call<SessionSummary>("PATCH", pathOf(id), { body }), options),
    endSession: (id) => connection.json<SessionAck>("POST", `${pathOf(id)}/end`),
    forkSession: (id, { idempotencyKey, ...body } = {}) =>
      post(`${pathOf(id)}/fork`, body, idempotencyKey),
    deleteSession: (id) => connection.json<DeletedSession[]>("DELETE", pathOf(id)),
    exportSession: (id, query = {}) => connection.text(`${pathOf(id)}/export`, { query }),
    verifySession: (id) => connection.json<VerificationInfo>("GET", `${pathOf(id)}/verify`),
    listExchanges: (id, query = {}) =>
      connection.json<ListedExchange[]>("GET", `${pathOf(id)}/exchanges`, {
        query,
      }),
    getExchange: (id, n) => connection.json<ExchangeDetail>("GET", exchangePath(id, n)),
    queueExchange: async (id, content, options = {}) => {
      const { idempotencyKey, supersede, ifIdle: if_idle, notBefore: not_before } = options;
      const body = { content: content ?? undefined, supersede, if_idle, not_before };
      return post(`${pathOf(id)}/exchanges`, body, idempotencyKey);
    },
    stopExchange: (id, n) => connection.json<ExchangeInfo>("POST", `${exchangePath(id, n)}/stop`),
    changeExchange: async (id, n, content, { revision } = {}) => {
      const changed = { body: { content }, headers: { "if-match": textOf(revision) } };
      return connection.json<ExchangeInfo>("PATCH", exchangePath(id, n), changed);
    },
    withdrawExchange: async (id, n, { revision } = {}) => {
      const headers = { "if-match": textOf(revision) };
      return connection.json<ExchangeInfo>("DELETE", exchangePath(id, n), { headers });
    },
    listQuestions: (id, query = {}) =>
      connection.json<QuestionInfo[]>("GET", `${pathOf(id)}/questions`, { query }),
    answerQuestion: async (id, question, answer) => {
      const path = `${pathOf(id)}/questions/${encodeURIComponent(question)}/answer`;
      return connection.json<QuestionInfo>("POST", path, { body: answer });
    },
    followSession: (id, follow = {}) => followStream(connection, `${pathOf(id)}/stream`, follow),
    live: (id, live = {}) => followLive(connection, `${pathOf(id)}/live`, live),
    events: (events = {}) => followEvents(connection, events),
    ...artifactCalls(connection),
    ...changeCalls(connection),
    ...planRunCalls(connection),
    ...serviceCalls(connection),
    ...shareCalls(connection),
    run: (id, content, run = {}) => runExchange(client, id, content, run),
  };
  return client;
}

/** The body of an answer; a warning of it is passed on. */
function warned<Body>(
  { body, headers }: { readonly body: Body; readonly headers: Headers },
  { onWarning }: WarningOptions = {},
): Body {
  const warning = headers.get("reprise-warning");
  if (warning !== null) {
    onWarning?.(warning);
  }
  return body;
}

function pathOf(id: string): string {
  return `/api/sessions/${encodeURIComponent(id)}`;
}

function exchangePath(id: string, n: number): string {
  return `${pathOf(id)}/exchanges/${n}`;
}

function textOf(revision: number | undefined): string | undefined {
  return revision === undefined ? undefined : String(revision);
}
