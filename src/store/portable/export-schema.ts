import { Type, type Static, type TSchema } from "typebox";

import { MAX_DEPTH, MAX_NAME_LENGTH } from "../../core/limits.ts";
import { ORIGINS } from "../../core/origins.ts";
import { ROLES, SESSION_STATES } from "../../core/sessions.ts";
import { CHANGED_FIELDS } from "../schema.ts";

/**
 * A session outside of any database: its row, its messages, its threads with every checkpoint, and
 * the sub-agents that it began, each the same again. It holds no row number of a database: bodies
 * and lists are named by their positions in the thread. So the same session is the same document
 * wherever it comes from.
 */
export const FORMAT = "reprise/session@1";

const closed = { additionalProperties: false } as const;
const nullable = <T extends TSchema & { readonly type: string }>(schema: T) =>
  Type.Unsafe<Static<T> | null>({ ...schema, type: [schema.type, "null"] });
const text = () => Type.String({ format: "storable-text" });
const name = () => Type.String({ format: "storable-text", maxLength: MAX_NAME_LENGTH });
const count = () => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const id = () => Type.String({ pattern: "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$" });
const time = () =>
  Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$" });
const oneOf = <const T extends readonly string[]>(words: T) =>
  Type.Unsafe<T[number]>({ type: "string", enum: [...words] });

/** Optional fields: each is written only if it says more than its absence. */
const origins = {
  origin: Type.Optional(oneOf(ORIGINS)),
  authenticated: Type.Optional(Type.Unsafe<false>({ const: false })),
  accepted_at: Type.Optional(time()),
} as const;

const PortableChange = Type.Object(
  { field: oneOf(CHANGED_FIELDS), value: text(), ts: time(), ...origins },
  closed,
);
export type PortableChange = Static<typeof PortableChange>;

/** Every stored column but the lease, which is nobody's outside of its database. */
const PortableSession = Type.Object(
  {
    id: id(),
    state: oneOf(SESSION_STATES),
    persona_name: nullable(text()),
    model: nullable(text()),
    repo_path: nullable(text()),
    project_key: nullable(text()),
    title: nullable(text()),
    plan_mode: Type.Boolean(),
    parent_session_id: nullable(id()),
    parent_call_id: nullable(text()),
    depth: Type.Integer({ minimum: 0, maximum: MAX_DEPTH }),
    total_input_tokens: count(),
    total_output_tokens: count(),
    // a thread id has at most 9 digits after its colon: see core/threads.ts
    thread_suffix: Type.Integer({ minimum: 0, maximum: 999_999_999 }),
    last_seq: count(),
    cleared_seq: count(),
    created_at: time(),
    last_message_at: nullable(time()),
    ended_at: nullable(time()),
    exchange_open: Type.Boolean(),
    ...origins,
    chosen: Type.Optional(oneOf(ORIGINS)),
    create_key: Type.Optional(name()),
    create_request: Type.Optional(Type.String({ pattern: "^[0-9a-f]{64}$" })),
    input_tokens_ahead: Type.Optional(
      Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    ),
    /** Why the last exchange failed; only in a session with an open one. */
    failure: Type.Optional(
      Type.Object({ code: Type.String({ pattern: "^[a-z_]{1,64}$" }), sentence: text() }, closed),
    ),
    /** In order: `number` counts them from 1. */
    changes: Type.Optional(Type.Array(PortableChange, { minItems: 1 })),
  },
  closed,
);
export type PortableSession = Static<typeof PortableSession>;

const PortableMessage = Type.Object(
  {
    seq: count(),
    message_id: text(),
    role: oneOf(ROLES),
    content: text(),
    tool_calls: nullable(
      Type.Array(
        Type.Object({ id: Type.String(), name: Type.String(), args: Type.Unknown() }, closed),
      ),
    ),
    token_count: count(),
    is_summary: Type.Boolean(),
    archived: Type.Boolean(),
    ts: time(),
    checkpointed: Type.Boolean(),
    idempotency_key: nullable(name()),
    ...origins,
  },
  closed,
);
export type PortableMessage = Static<typeof PortableMessage>;

type SessionColumn = Exclude<keyof PortableSession, "failure" | "changes">;

/** The columns that an export has, in its order; `failure` and `changes` are made of others. */
export const SESSION_COLUMNS = Object.keys(PortableSession.properties).filter(
  (name) => name !== "failure" && name !== "changes",
) as SessionColumn[];
export const MESSAGE_COLUMNS = Object.keys(PortableMessage.properties) as (keyof PortableMessage)[];

/** A StoredValue (`checkpoints/value.ts`) with positions instead of ids; `mapIds` reads it. */
const value = () => Type.Unknown();

const PortableList = Type.Object(
  {
    /** The place of an earlier list whose first `base_length` items come first. */
    base: nullable(count()),
    base_length: count(),
    /** Places of bodies. */
    items: Type.Array(count()),
  },
  closed,
);
export type PortableList = Static<typeof PortableList>;

const PortableCheckpoint = Type.Object(
  {
    ns: text(),
    checkpoint_id: text(),
    parent_id: nullable(text()),
    ts: text(),
    /** Place of a body. */
    shape: count(),
    versions: text(),
    channels: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: "object" }),
    metadata: value(),
  },
  closed,
);
export type PortableCheckpoint = Static<typeof PortableCheckpoint>;

const PortableWrites = Type.Object(
  {
    ns: text(),
    checkpoint_id: text(),
    task_id: text(),
    /** [index, channel, value], ascending by index. */
    writes: Type.Array(Type.Array(Type.Unknown(), { minItems: 3, maxItems: 3 })),
  },
  closed,
);
export type PortableWrites = Static<typeof PortableWrites>;

const PortableThread = Type.Object(
  {
    suffix: count(),
    bodies: Type.Array(text()),
    lists: Type.Array(PortableList),
    /** In the order in which they were stored: the last one is the latest. */
    checkpoints: Type.Array(PortableCheckpoint),
    writes: Type.Array(PortableWrites),
    /** How many of each, from the first on, existed when the thread was last pruned. */
    folded: Type.Object({ checkpoints: count(), bodies: count(), lists: count() }, closed),
  },
  closed,
);
export type PortableThread = Static<typeof PortableThread>;

export interface SessionTree {
  readonly session: PortableSession;
  /** Ascending by `seq`, archived ones and those that no checkpoint holds too. */
  readonly messages: readonly PortableMessage[];
  /** Ascending by suffix; threads that have checkpoints. */
  readonly threads: readonly PortableThread[];
  /** By creation, then by id. */
  readonly children: readonly SessionTree[];
}

export const SessionExport = Type.Object(
  {
    format: Type.Unsafe<typeof FORMAT>({ const: FORMAT }),
    /** When it was written. The only part that differs between two exports of the same state. */
    exported_at: time(),
    /** Hex SHA-256 of `canonicalText` of the rest but `format` and `exported_at`. */
    sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
    session: PortableSession,
    messages: Type.Array(PortableMessage),
    threads: Type.Array(PortableThread),
    children: Type.Array(Type.Unsafe<SessionTree>({ $ref: "tree" })),
  },
  closed,
);
export type SessionExport = Static<typeof SessionExport>;

const { format: _f, exported_at: _e, sha256: _s, ...tree } = SessionExport.properties;

/** What `children` holds. */
export const SessionTreeSchema = Type.Object(tree, { ...closed, $id: "tree" });

/** The sessions of a tree, each after its parent. */
export function* sessionsOf(tree: SessionTree): Generator<SessionTree> {
  yield tree;
  for (const child of tree.children) {
    yield* sessionsOf(child);
  }
}
