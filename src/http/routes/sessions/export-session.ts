import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";

import type { FastifyReply } from "fastify";
import { Type } from "typebox";

import { STREAM_STALL_MS } from "../../../core/limits.ts";
import { NoQuery } from "../../../core/schemas/query-schemas.ts";
import { checksumInSteps, exportText } from "../../../store/portable/export-text.ts";
import { exportRequested } from "../../../store/requests.ts";
import type { LargeReads } from "../../guards/large-reads.ts";
import { json, JSON_TYPE, problems } from "../../responses.ts";
import { createDeadlines, type Deadlines } from "../../unsent/deadlines.ts";
import type { UnsentAnswers } from "../../unsent/unsent-answers.ts";
import { type Api, SESSION_PROBLEMS, SessionParams, type SessionService } from "../api.ts";

const schema = {
  operationId: "exportSession",
  summary: "Returns a session with its checkpoints and sub-agents, to import it elsewhere",
  description:
    "The text that `reprise sessions export` writes. Verify the session too: an import refuses one with findings.",
  params: SessionParams,
  querystring: NoQuery,
  response: {
    200: json(Type.Unsafe<Readable>(Type.Record(Type.String(), Type.Unknown())), {
      description: "The export, in the format `reprise/session@1`.",
    }),
    ...problems(SESSION_PROBLEMS),
  },
};

/** Characters that are sent at once. */
const PIECE_LENGTH = 16 * 1024;
/** A client's time in ticks of the timer that all share. */
const STALL_TICKS = 10;

/** `stallMs`: how long a client may take nothing. */
export function exportSessionRoute(
  app: Api,
  { store, unsent }: SessionService,
  {
    inTurn,
    stallMs = STREAM_STALL_MS,
  }: { readonly inTurn: LargeReads; readonly stallMs?: number | undefined },
): void {
  const stalls = createDeadlines<ServerResponse>(
    { tickMs: stallMs / STALL_TICKS, ticks: STALL_TICKS + 1 },
    (response) => response.destroy(),
  );
  app.route({
    method: "GET",
    url: "/api/sessions/:id/export",
    schema,
    preHandler: inTurn,
    handler: async ({ params }, reply) => {
      const tree = await store.read(exportRequested, { reference: params.id });
      const text = exportText(tree, new Date().toISOString(), await checksumInSteps(tree));
      return reply
        .type(JSON_TYPE)
        .send(Readable.from(watched(text, { reply, stalls, unsent }), { highWaterMark: 1 }));
    },
  });
}

/** The text in pieces of a size that is worth sending. A client that takes none in its time is cut. */
function* watched(text: Iterable<string>, { reply, stalls, unsent }: Watching): Generator<Buffer> {
  const { raw: response } = reply;
  let piece = "";
  try {
    for (const line of text) {
      piece += line;
      if (piece.length >= PIECE_LENGTH) {
        stalls.begin(response);
        unsent.progress(reply, piece.length);
        // bytes: for a string, the socket would keep a copy of three times its length
        yield Buffer.from(piece);
        piece = "";
      }
    }
    yield Buffer.from(piece);
  } finally {
    stalls.end(response);
  }
}

interface Watching {
  readonly reply: FastifyReply;
  readonly stalls: Deadlines<ServerResponse>;
  readonly unsent: Pick<UnsentAnswers, "progress">;
}
