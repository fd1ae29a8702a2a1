import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";

import type { KeptOfSessions } from "../../exchange/undo/forget-sessions.ts";
import type { ServedFolders } from "../../exchange/served-folders.ts";
import type { PriceCheck } from "../../rules/personas/preflight.ts";
import type { Secrets } from "../../core/secrets.ts";
import type { ExchangeReference } from "../../store/records/exchanges/change.ts";
import type { Store } from "../../store/store.ts";
import type { UnsentAnswers } from "../unsent/unsent-answers.ts";
import type { PublicPath } from "../guards/public-path.ts";
import type { Observe } from "../observation.ts";

/** The Fastify instance that routes are added to: what they receive has the types of its schema. */
export type Api = ReturnType<typeof typed>;

export function typed(app: FastifyInstance) {
  return app.withTypeProvider<TypeBoxTypeProvider>();
}

/** Parts of the service that the routes of sessions need. */
export interface SessionService extends KeptOfSessions {
  readonly store: Store;
  readonly publicPath: PublicPath;
  readonly observe: Observe;
  readonly secrets: Secrets | undefined;
  readonly unsent: UnsentAnswers;
  /** The folders in whose sessions this process runs exchanges; null if it runs none. */
  readonly folders: ServedFolders | null;
  /** Undefined if the process does not know which models answer. */
  readonly checkPrice: PriceCheck | undefined;
}

/** The header of an answer that says what a person may not expect, such as a folder that is missing. */
export const WARNING_HEADER = "Reprise-Warning";

export const FolderWarningHeader = {
  [WARNING_HEADER]: {
    type: "string",
    description:
      "`folder_missing`: the folder does not exist on this machine, which would run the exchanges; or `folder_not_served`: no node that is alive runs sessions of this folder.",
  },
} as const;

/** The path parameter of every call on one session. */
export const SessionParams = Type.Object({
  id: Type.String({ description: "The session's id, or its first 6 or more characters." }),
});

/** The exchange that a path names; none has the number 0. */
export function exchangeReference({
  id,
  n,
}: {
  readonly id: string;
  readonly n: string;
}): ExchangeReference {
  return { reference: id, n: /^[1-9]\d{0,14}$/.test(n) ? Number(n) : 0 };
}

export const BODY_PROBLEMS = {
  413: "The body is too large.",
  415: "The body is not JSON.",
} as const;

export const SESSION_PROBLEMS = {
  404: "No session has this id.",
  409: "`ambiguous_id`: several sessions begin so; `candidates` lists them.",
} as const;

/** The header by which a client changes only what it has read. */
export const IfMatch = Type.Object({
  "if-match": Type.Optional(
    Type.String({
      pattern: '^("[1-9][0-9]{0,14}"|[1-9][0-9]{0,14})$',
      description: "a revision of the exchange: a whole number",
    }),
  ),
});

/** The header by which a client repeats a request safely. */
export const IdempotencyKey = Type.Object({
  "idempotency-key": Type.Optional(
    Type.String({
      pattern: "^[!-~]{1,255}$",
      description: "a key of 1 to 255 visible ASCII characters",
    }),
  ),
});
