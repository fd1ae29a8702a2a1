import { Type, type Static } from "typebox";

import {
  closed,
  fieldSchemas,
  nullable,
  nullableOneOf,
  oneOf,
  Permission,
  QuestionChoice,
  text,
  PortableCall,
} from "../../core/schemas/field-schemas.ts";
import { CALL_STATUSES } from "../../core/calls.ts";
import { CALL_ENDS, MAX_COUNTED_TOKENS, type TokenKind } from "../../core/cost/model-calls.ts";
import { ASKED_BY, EXCHANGE_STATES } from "../../core/exchanges.ts";
import { CACHE_LIVES, EFFORTS, MAX_FALLBACKS } from "../../core/model-settings.ts";
import { metadata, sessionName } from "../../core/schemas/label-schemas.ts";
import { MAX_SUBAGENT_DEPTH } from "../../core/limits.ts";
import { ORIGINS } from "../../core/principal.ts";
import {
  ANSWERERS,
  type Choice,
  MAX_CHOICES,
  QUESTION_KINDS,
  QUESTION_STATES,
} from "../../core/questions.ts";
import { MAX_PARALLEL, MAX_RETRIES, PHASE_STATES } from "../../core/plan-runs.ts";
import { MESSAGE_FIELDS, ROLES, SESSION_FIELDS, SESSION_STATES } from "../../core/sessions.ts";
import { CHANGED_FIELDS } from "../tables/database.ts";
import { count, exportFields, id, name, origins, time } from "./portable-fields.ts";
import { PortableThread } from "./portable-threads.ts";

/**
 * A session outside of any database: its row, its messages, its threads with every checkpoint, and
 * the sub-agents that it began, each the same again. It holds no row number of a database: bodies
 * and lists are named by their positions in the thread. So the same session is the same document
 * wherever it comes from.
 */
export const FORMAT = "reprise/session@1";

const ERROR_CODE = "^[a-z_]{1,64}$";

const KINDS = {
  id,
  state: () => oneOf(SESSION_STATES),
  role: () => oneOf(ROLES),
  text,
  "text?": () => nullable(text()),
  time,
  "time?": () => nullable(time()),
  count,
  position: count,
  flag: () => Type.Boolean(),
  "calls?": () => nullable(Type.Array(PortableCall)),
  "call_status?": () => nullableOneOf(CALL_STATUSES),
} as const;

/** A limit, of tokens or micro-dollars. */
const amount = () => Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const limits = {
  exchange_limit: Type.Optional(amount()),
  session_limit: Type.Optional(amount()),
  tree_limit: Type.Optional(amount()),
  exchange_price_limit: Type.Optional(amount()),
  session_price_limit: Type.Optional(amount()),
  tree_price_limit: Type.Optional(amount()),
} as const;

const PortableChange = Type.Object(
  { field: oneOf(CHANGED_FIELDS), value: text(), ts: time(), ...origins },
  closed,
);
export type PortableChange = Static<typeof PortableChange>;

/** The columns of a record of an exchange that say what it was, whatever database it is in. */
const PortableExchange = Type.Object(
  {
    n: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    id: id(),
    revision: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    state: oneOf(EXCHANGE_STATES),
    asked_by: oneOf(ASKED_BY),
    parent_n: nullable(count()),
    thread_suffix: nullable(count()),
    model: nullable(text()),
    persona_name: nullable(text()),
    first_seq: nullable(count()),
    last_seq: nullable(count()),
    input_before: nullable(count()),
    output_before: nullable(count()),
    input_tokens: nullable(Type.Integer()),
    output_tokens: nullable(Type.Integer()),
    error_code: nullable(Type.String({ pattern: ERROR_CODE })),
    error_sentence: nullable(text()),
    begun_at: nullable(time()),
    ended_at: nullable(time()),
    content: Type.Optional(text()),
    origin: origins.origin,
    authenticated: origins.authenticated,
    idempotency_key: Type.Optional(nullable(name())),
    request: Type.Optional(Type.String({ pattern: "^[0-9a-f]{64}$" })),
    attempts: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    queued_at: Type.Optional(time()),
    fallback_model: Type.Optional(text()),
    resets_at: Type.Optional(time()),
    not_before: Type.Optional(time()),
  },
  closed,
);
export type PortableExchange = Static<typeof PortableExchange>;
export const EXCHANGE_COLUMNS = Object.keys(
  PortableExchange.properties,
) as (keyof PortableExchange)[];

const counted = () => nullable(Type.Integer({ minimum: 0, maximum: MAX_COUNTED_TOKENS }));
const CALL_COUNTS = {
  input: counted(),
  cache_read: counted(),
  cache_write_5m: counted(),
  cache_write_1h: counted(),
  output: counted(),
  reasoning: counted(),
} as const satisfies Readonly<Record<TokenKind, unknown>>;

/** A request of a model: which lease it was made under is of one database. */
const PortableModelCall = Type.Object(
  {
    n: count(),
    model: text(),
    ...CALL_COUNTS,
    price_micros: nullable(count()),
    price_table: nullable(name()),
    ended: oneOf(CALL_ENDS),
    ts: time(),
  },
  closed,
);
export type PortableModelCall = Static<typeof PortableModelCall>;
export const MODEL_CALL_COLUMNS = Object.keys(
  PortableModelCall.properties,
) as (keyof PortableModelCall)[];

const Argv = Type.Array(Type.String(), { minItems: 1 });
const Commands = Type.Array(Argv);

/** Checks of a run. */
const Checks = Type.Object(
  {
    phases: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object({ setup: Type.Optional(Commands), checks: Commands }, closed),
      ),
    ),
    all: Type.Optional(Commands),
  },
  closed,
);

/** A command of checks that was run. */
const CheckResult = Type.Object(
  {
    argv: Argv,
    code: nullable(Type.Integer()),
    ms: Type.Integer({ minimum: 0 }),
    failure: nullable(text()),
  },
  closed,
);

const artifactHash = () => nullable(Type.String({ pattern: "^[0-9a-f]{64}$" }));
const attempt = () => Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

/** The last run of the checks of a phase. */
const PhaseChecked = Type.Object(
  {
    attempt: attempt(),
    corrections: count(),
    artifact_hash: artifactHash(),
    commands: Type.Array(CheckResult, { minItems: 1 }),
  },
  closed,
);

/** Phase of a run, in the order of the plan. */
const PortablePhase = Type.Object(
  {
    key: name(),
    state: oneOf(PHASE_STATES),
    attempt: attempt(),
    approved: count(),
    artifact_hash: artifactHash(),
    checked: nullable(PhaseChecked),
    error_code: nullable(text()),
    error_sentence: nullable(text()),
    begun_at: nullable(time()),
    ended_at: nullable(time()),
  },
  closed,
);
export type PortablePhase = Static<typeof PortablePhase>;
export const PHASE_COLUMNS = Object.keys(PortablePhase.properties) as (keyof PortablePhase)[];

/** Run of a plan: how often the plan was run before is of one database. */
const PortableRun = Type.Object(
  {
    run_id: id(),
    plan: text(),
    path: nullable(text()),
    checks: nullable(Checks),
    options: Type.Object(
      {
        parallel: Type.Integer({ minimum: 1, maximum: MAX_PARALLEL }),
        retries: Type.Integer({ minimum: 0, maximum: MAX_RETRIES }),
        approve: Type.Array(name()),
      },
      closed,
    ),
    phases: Type.Array(PortablePhase, { minItems: 1 }),
  },
  closed,
);
export type PortableRun = Static<typeof PortableRun>;

const choiceList = { minItems: 1, maxItems: MAX_CHOICES };

const WrittenQuestion = Type.Object(
  {
    thread_suffix: count(),
    call_id: name(),
    number: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    id: id(),
    state: oneOf(QUESTION_STATES),
    kind: oneOf(QUESTION_KINDS),
    text: text(),
    /** Builds before the baseline wrote the texts alone: see `currentTree`. */
    choices: Type.Union([
      Type.Array(QuestionChoice, choiceList),
      Type.Array(text(), choiceList),
      Type.Null(),
    ]),
    permission: Type.Optional(Permission),
    /** Field of builds before the baseline: nothing reads it. */
    effect: Type.Optional(nullable(text())),
    shown_hash: Type.String({ pattern: "^[0-9a-f]{64}$" }),
    default_answer: nullable(text()),
    answer_by: nullable(time()),
    asked_at: time(),
    answered_at: nullable(time()),
    answered_by: nullableOneOf(ANSWERERS),
    answer: nullable(text()),
    note: nullable(text()),
  },
  closed,
);
/** A question as any build wrote it. */
export type WrittenQuestion = Static<typeof WrittenQuestion>;
export type PortableQuestion = Omit<WrittenQuestion, "choices" | "effect"> & {
  choices: readonly Choice[] | null;
};
const { effect: _effect, ...questionFields } = WrittenQuestion.properties;
export const QUESTION_COLUMNS = Object.keys(questionFields) as (keyof PortableQuestion)[];

const {
  activity: _activity,
  title,
  name: _name,
  agent: _agent,
  archived_at: _archivedAt,
  pinned_at: _pinnedAt,
  effort: _effort,
  cache: _cache,
  fallback: _fallback,
  project_id: _projectId,
  ...sessionFields
} = SESSION_FIELDS;
const ofSession = {
  ...fieldSchemas(sessionFields, KINDS),
  parent_session_id: nullable(id()),
  depth: Type.Integer({ minimum: 0, maximum: MAX_SUBAGENT_DEPTH }),
};
const { session_id: _session_id, ...messageFields } = MESSAGE_FIELDS;
const ofMessage = fieldSchemas(messageFields, KINDS);

/** The first schemas up to and with this one: an export has columns between those of the API. */
function through<T extends object>(schemas: T, last: keyof T & string): Partial<T> {
  const entries = Object.entries(schemas);
  const end = entries.findIndex(([name]) => name === last) + 1;
  return Object.fromEntries(entries.slice(0, end)) as Partial<T>;
}

/** Every stored column but the lease, which is nobody's outside of its database. */
const WrittenSession = Type.Object(
  {
    ...through(ofSession, "project_key"),
    title: KINDS[title](),
    ...through(ofSession, "parent_session_id"),
    parent_call_id: nullable(text()),
    ...through(ofSession, "total_output_tokens"),
    // a thread id has at most 9 digits after its colon: see core/threads.ts
    thread_suffix: Type.Integer({ minimum: 0, maximum: 999_999_999 }),
    ...through(ofSession, "last_seq"),
    cleared_seq: count(),
    ...ofSession,
    exchange_open: Type.Boolean(),
    ...origins,
    chosen: Type.Optional(oneOf(ORIGINS)),
    create_key: Type.Optional(name()),
    create_request: Type.Optional(Type.String({ pattern: "^[0-9a-f]{64}$" })),
    input_tokens_ahead: Type.Optional(amount()),
    agent: Type.Optional(name()),
    exchange_count: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    ...limits,
    name: Type.Optional(sessionName()),
    named_at: Type.Optional(time()),
    archived_at: Type.Optional(time()),
    archive_changed_at: Type.Optional(time()),
    pinned_at: Type.Optional(time()),
    pin_changed_at: Type.Optional(time()),
    metadata_changed_at: Type.Optional(time()),
    effort: Type.Optional(oneOf(EFFORTS)),
    cache: Type.Optional(oneOf(CACHE_LIVES)),
    fallback: Type.Optional(Type.Array(name(), { maxItems: MAX_FALLBACKS })),
    project_id: Type.Optional(Type.String({ pattern: "^[0-9a-f]{16}$" })),
    forked_from_session_id: Type.Optional(id()),
    forked_from_seq: Type.Optional(count()),
    metadata: Type.Optional(metadata()),
    /** Why the last exchange failed; only in a session with an open one. */
    failure: Type.Optional(
      Type.Object({ code: Type.String({ pattern: ERROR_CODE }), sentence: text() }, closed),
    ),
    /** In order: `number` counts them from 1. */
    changes: Type.Optional(Type.Array(PortableChange, { minItems: 1 })),
    /** In order of `n`. */
    exchanges: Type.Optional(Type.Array(PortableExchange, { minItems: 1 })),
    /** In order of thread, call and number. */
    questions: Type.Optional(Type.Array(WrittenQuestion, { minItems: 1 })),
    /** In the order of the exchanges, and in each in that in which they were made. */
    model_calls: Type.Optional(Type.Array(PortableModelCall, { minItems: 1 })),
    /** The plan that the session runs. */
    run: Type.Optional(PortableRun),
  },
  closed,
);
type WrittenSession = Static<typeof WrittenSession>;
export type PortableSession = Omit<WrittenSession, "questions"> & {
  questions?: PortableQuestion[];
};

const PortableMessage = Type.Object(
  {
    ...ofMessage,
    checkpointed: Type.Boolean(),
    idempotency_key: nullable(name()),
    ...origins,
    call_id: Type.Optional(text()),
    status: Type.Optional(oneOf(CALL_STATUSES)),
  },
  closed,
);
export type PortableMessage = Static<typeof PortableMessage>;

/** Parts of an export of a session besides the columns of its row. */
const MADE_OF_OTHERS = [
  "failure",
  "changes",
  "exchanges",
  "questions",
  "metadata",
  "model_calls",
  "run",
] as const;
type SessionColumn = Exclude<keyof PortableSession, (typeof MADE_OF_OTHERS)[number]>;

/** The columns that an export has, in its order. */
export const SESSION_COLUMNS = Object.keys(WrittenSession.properties).filter(
  (name) => !MADE_OF_OTHERS.some((other) => other === name),
) as SessionColumn[];
export const MESSAGE_COLUMNS = Object.keys(PortableMessage.properties) as (keyof PortableMessage)[];

export interface SessionTree {
  readonly session: PortableSession;
  /** Ascending by `seq`, archived ones and those that no checkpoint holds too. */
  readonly messages: readonly PortableMessage[];
  /** Ascending by suffix; threads that have checkpoints. */
  readonly threads: readonly PortableThread[];
  /** By creation, then by id. */
  readonly children: readonly SessionTree[];
}

/** A tree as any build wrote it. */
export interface WrittenTree extends Omit<SessionTree, "session" | "children"> {
  readonly session: WrittenSession;
  readonly children: readonly WrittenTree[];
}

export const SessionExport = Type.Object(
  {
    ...exportFields(FORMAT),
    session: WrittenSession,
    messages: Type.Array(PortableMessage),
    threads: Type.Array(PortableThread),
    children: Type.Array(Type.Unsafe<WrittenTree>({ $ref: "tree" })),
  },
  closed,
);
export type SessionExport = Static<typeof SessionExport>;

const { format: _f, exported_at: _e, sha256: _s, ...tree } = SessionExport.properties;

/** Form of an entry of `children`. */
export const SessionTreeSchema = Type.Object(tree, { ...closed, $id: "tree" });

/** The sessions of a tree, each after its parent. */
export function* sessionsOf(tree: SessionTree): Generator<SessionTree> {
  yield tree;
  for (const child of tree.children) {
    yield* sessionsOf(child);
  }
}
