import { Type } from "typebox";

import {
  ExchangeChangesInfo,
  FileChangeInfo,
  UndoInfo,
  UndoRequest,
} from "../../core/schemas/file-change-schemas.ts";
import { MAX_BODY_BYTES } from "../../core/limits.ts";
import { NoQuery } from "../../core/schemas/query-schemas.ts";
import { named } from "../../core/schemas/schemas.ts";
import type { Direction } from "../../workspace/undo/restore.ts";
import { readExchange } from "../../store/records/exchanges/read.ts";
import { emptyBodyAsObject } from "../guards/json-body.ts";
import { json, problems } from "../responses.ts";
import {
  type Api,
  exchangeReference,
  BODY_PROBLEMS,
  SESSION_PROBLEMS,
  SessionParams,
  type SessionService,
} from "./api.ts";

const TOKEN_PROBLEM = { 403: "`token_required`: the request has no token." } as const;

/** Right to read: what files held before may be secret. */
const CLOSED = { needs: "read_private" } as const;

const listSchema = {
  operationId: "listChanges",
  summary: "Lists the exchanges of a session that changed files, the latest first",
  description: "What a sub-agent changed counts for the exchange that began it.",
  params: SessionParams,
  querystring: NoQuery,
  response: {
    200: json(Type.Array(named(ExchangeChangesInfo)), { description: "The exchanges." }),
    ...problems({ ...SESSION_PROBLEMS, ...TOKEN_PROBLEM }),
  },
};

const oneExchange = Type.Object({
  ...SessionParams.properties,
  n: Type.String({ description: "The exchange's number." }),
});

const ONE_PROBLEMS = {
  ...SESSION_PROBLEMS,
  ...TOKEN_PROBLEM,
  404: "The session or the exchange does not exist.",
} as const;

const readSchema = {
  operationId: "getChanges",
  summary: "Returns what an exchange changed in files, each with its unified diff",
  description:
    "Empty if it changed nothing. The content of files is only on the machine that ran the exchange: elsewhere there are no diffs. All diffs together have about a million characters at most.",
  params: oneExchange,
  querystring: NoQuery,
  response: {
    200: json(Type.Array(named(FileChangeInfo)), { description: "The files." }),
    ...problems(ONE_PROBLEMS),
  },
};

const undoSchema = (direction: Direction) => ({
  operationId: `${direction}Exchange`,
  summary:
    direction === "undo"
      ? "Takes back what an exchange changed in files"
      : "Makes again what was undone of an exchange",
  description:
    "A file that is not as the exchange left it is refused, with the diff; the others are done. With `dry_run` nothing is changed.",
  params: oneExchange,
  querystring: NoQuery,
  body: named(UndoRequest),
  response: {
    200: json(named(UndoInfo), { description: "The outcome for each file." }),
    ...problems({
      ...ONE_PROBLEMS,
      ...BODY_PROBLEMS,
      409: "`session_busy`: an exchange runs; `nothing_to_undo`: it changed no files; `changes_elsewhere`: their content is on another machine; or `ambiguous_id`.",
    }),
  },
});

export function changeRoutes(app: Api, { store, kept, secrets, unsent }: SessionService): void {
  app.route({
    method: "GET",
    url: "/api/sessions/:id/changes",
    schema: listSchema,
    config: CLOSED,
    preHandler: unsent.inTurn,
    handler: async ({ params }) => {
      const { changedExchanges } = await import("../../exchange/undo/show-changes.ts");
      return changedExchanges({ store, kept }, { reference: params.id });
    },
  });
  app.route({
    method: "GET",
    url: "/api/sessions/:id/exchanges/:n/changes",
    schema: readSchema,
    config: CLOSED,
    preHandler: unsent.inTurn,
    handler: async (request, reply) => {
      const { session_id, n } = await store.read(readExchange, exchangeReference(request.params));
      const { changesOfExchange } = await import("../../exchange/undo/show-changes.ts");
      const pause = (): Promise<void> => unsent.pause({ request, reply });
      return changesOfExchange({ store, kept, secrets, pause }, { reference: session_id, n });
    },
  });
  for (const direction of ["undo", "redo"] as const) {
    app.route({
      method: "POST",
      url: `/api/sessions/:id/exchanges/:n/${direction}`,
      schema: undoSchema(direction),
      bodyLimit: MAX_BODY_BYTES,
      preValidation: emptyBodyAsObject,
      handler: async (request) => {
        const { params, body, principal } = request;
        const { session_id: reference, n } = await store.read(
          readExchange,
          exchangeReference(params),
        );
        const { undoExchange } = await import("../../exchange/undo/undo-exchange.ts");
        const input = { reference, n, direction, ...body, principal };
        return undoExchange({ store, kept, secrets, command: "reprise serve" }, input);
      },
    });
  }
}
