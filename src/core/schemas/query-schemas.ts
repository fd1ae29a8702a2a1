import { Type, type Static } from "typebox";

import { closed, oneOf } from "./field-schemas.ts";
import { metadataPair, sessionName } from "./label-schemas.ts";
import {
  DEFAULT_LIST_LIMIT,
  EVENT_REASONING_BYTES,
  MAX_LIST_LIMIT,
  MAX_REASONING_BYTES,
} from "../limits.ts";
import { repoPath } from "./schemas.ts";
import {
  ACTIVITIES,
  EXPORT_FORMATS,
  LIST_ORDERS,
  MESSAGE_ORDERS,
  SESSION_STATES,
} from "../sessions.ts";

/** Queries of the HTTP API. All are closed, as the objects of `schemas.ts` are. */

export const NoQuery = Type.Object({}, closed);

export const ExportQuery = Type.Object(
  {
    format: Type.Optional(oneOf(EXPORT_FORMATS)),
    redact: Type.Optional(
      Type.Boolean({
        description:
          "true to leave out keys, tokens, e-mail addresses, home paths and texts of the config",
      }),
    ),
  },
  closed,
);
export type ExportQuery = Static<typeof ExportQuery>;

/** A filter of the list is an AND with the others. */
export const ListQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_LIST_LIMIT, default: DEFAULT_LIST_LIMIT }),
    ),
    order: Type.Optional(oneOf(LIST_ORDERS)),
    state: Type.Optional(oneOf(SESSION_STATES)),
    project_key: Type.Optional(
      Type.String({
        pattern: "^[0-9a-f]{16}$",
        description: "a project key: 16 hexadecimal digits in lower case",
      }),
    ),
    parent: Type.Optional(
      Type.String({
        pattern: "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        description: "the full id of a session: its direct sub-agents are listed",
      }),
    ),
    forked_from: Type.Optional(
      Type.String({
        pattern: "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        description: "the full id of a session: its forks are listed",
      }),
    ),
    roots: Type.Optional(
      Type.Boolean({ description: "true for sessions that are nobody's sub-agent" }),
    ),
    activity: Type.Optional(oneOf(ACTIVITIES)),
    repo_path: Type.Optional(repoPath()),
    title: Type.Optional(sessionName()),
    archived: Type.Optional(
      Type.Boolean({ description: "true for archived sessions alone, false for the others" }),
    ),
    pinned: Type.Optional(
      Type.Boolean({ description: "true for pinned sessions alone, false for the others" }),
    ),
    metadata: Type.Optional(metadataPair()),
    cursor: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9_-]{1,400}$",
        description: "a cursor from a Link header",
      }),
    ),
  },
  closed,
);
export type ListQuery = Static<typeof ListQuery>;

export const ExchangesQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_LIST_LIMIT, default: DEFAULT_LIST_LIMIT }),
    ),
    before_n: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  },
  closed,
);

export const QuestionsQuery = Type.Object(
  {
    answered: Type.Optional(
      Type.Boolean({ default: false, description: "true for those that were answered, too" }),
    ),
  },
  closed,
);
export type QuestionsQuery = Static<typeof QuestionsQuery>;

const seqAfter = () => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

export const DetailQuery = Type.Object(
  {
    all: Type.Optional(Type.Boolean({ default: false })),
    before_seq: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    messages: Type.Optional(
      Type.Boolean({ default: true, description: "false for the session without its messages" }),
    ),
  },
  closed,
);
export type DetailQuery = Static<typeof DetailQuery>;

export const MessagesQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_LIST_LIMIT, default: DEFAULT_LIST_LIMIT }),
    ),
    order: Type.Optional(oneOf(MESSAGE_ORDERS)),
    after_seq: Type.Optional(seqAfter()),
    before_seq: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    all: Type.Optional(Type.Boolean({ default: false })),
  },
  closed,
);

export const ReasoningQuery = Type.Object(
  {
    after_seq: Type.Optional(seqAfter()),
    before_seq: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    max_bytes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_REASONING_BYTES,
        default: EVENT_REASONING_BYTES,
        description: "bytes of UTF-8 of each text; all of them together have 1 MiB at most",
      }),
    ),
  },
  closed,
);
export type ReasoningQuery = Static<typeof ReasoningQuery>;

export const StreamQuery = Type.Object(
  { all: Type.Optional(Type.Boolean({ default: false })), last_seq: Type.Optional(seqAfter()) },
  closed,
);

export const LiveQuery = Type.Object(
  { all: Type.Optional(Type.Boolean({ default: false })), after_seq: Type.Optional(seqAfter()) },
  closed,
);
