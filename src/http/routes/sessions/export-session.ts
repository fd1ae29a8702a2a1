import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";

import type { FastifyReply } from "fastify";
import { Type } from "typebox";

import { type Cleaner, NOTHING_CLEANED, type RedactSource } from "../../../core/redact/clean.ts";
import type { SessionTree } from "../../../store/portable/export-schema.ts";
import { resolveSession } from "../../../store/records/sessions/read.ts";
import { STREAM_STALL_MS } from "../../../core/limits.ts";
import { ExportQuery } from "../../../core/schemas/query-schemas.ts";
import { checksumInSteps, exportText } from "../../../store/portable/export-text.ts";
import { exportRequested } from "../../../store/requests.ts";
import type { LargeReads } from "../../guards/large-reads.ts";
import { json, JSON_TYPE, problems } from "../../responses.ts";
import { createDeadlines, type Deadlines } from "../../unsent/deadlines.ts";
import type { UnsentAnswers } from "../../unsent/unsent-answers.ts";
import { type Api, SESSION_PROBLEMS, SessionParams, type SessionService } from "../api.ts";

const schema = {
  operationId: "exportSession",
  summary: "Returns a session with its sub-agents, to import it elsewhere or to read it",
  description:
    "The text that `reprise sessions export` writes: JSON with the checkpoints, or Markdown or HTML without what models thought. Verify a session that you will import: an import refuses one with findings. Diffs of files are there for callers with a token, if this machine has the files.",
  params: SessionParams,
  querystring: ExportQuery,
  response: {
    200: json(Type.Unsafe<Readable>(Type.Record(Type.String(), Type.Unknown())), {
      description:
        "The export, in the format `reprise/session@1`; as `text/markdown` or `text/html` with `format`.",
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
  { store, unsent, kept, secrets }: SessionService,
  {
    inTurn,
    redact,
    stallMs = STREAM_STALL_MS,
  }: {
    readonly inTurn: LargeReads;
    readonly redact: RedactSource | undefined;
    readonly stallMs?: number | undefined;
  },
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
    handler: async ({ params, query, principal }, reply) => {
      const { format = "json", redact: isRedacted = false } = query;
      const cleaner = isRedacted ? await cleanerOf(redact) : NOTHING_CLEANED;
      const pieces = (text: AsyncIterable<string> | Iterable<string>): Readable =>
        Readable.from(watched(text, { reply, stalls, unsent }), { highWaterMark: 1 });
      if (format === "json") {
        const tree = await redactedOf(
          await store.read(exportRequested, { reference: params.id }),
          cleaner,
        );
        const text = exportText(tree, new Date().toISOString(), await checksumInSteps(tree));
        return reply.type(JSON_TYPE).send(pieces(text));
      }
      const { id } = await store.read(resolveSession, { reference: params.id });
      const mayReadFiles = principal.role === "owner" || principal.role === "reader";
      const changes = mayReadFiles ? { store, kept, secrets, pause: nextTurn } : null;
      const { readTranscript } = await import("../../../exchange/transcript/read-transcript.ts");
      const items = readTranscript({ store, changes }, { id });
      const { type, text, policy } = await writerOf(format);
      return reply
        .headers({
          "content-security-policy": `${policy}; sandbox; frame-ancestors 'none'`,
          "content-disposition": `attachment; filename="session-${id}.${format}"`,
        })
        .type(type)
        .send(pieces(text(items, cleaner)));
    },
  });
}

async function cleanerOf(source: RedactSource | undefined): Promise<Cleaner> {
  const { createCleaner } = await import("../../../core/redact/create-cleaner.ts");
  return createCleaner(source ?? {});
}

async function redactedOf(tree: SessionTree, cleaner: Cleaner): Promise<SessionTree> {
  if (cleaner === NOTHING_CLEANED) {
    return tree;
  }
  const { redactedTree } = await import("../../../store/portable/redact/redact-tree.ts");
  return redactedTree(tree, cleaner);
}

async function writerOf(format: "md" | "html") {
  if (format === "md") {
    const { markdownOf } = await import("../../../exchange/transcript/markdown.ts");
    return {
      type: "text/markdown; charset=utf-8",
      text: markdownOf,
      policy: "default-src 'none'",
    };
  }
  const { htmlOf, TRANSCRIPT_POLICY } = await import("../../../exchange/transcript/html.ts");
  return { type: "text/html; charset=utf-8", text: htmlOf, policy: TRANSCRIPT_POLICY };
}

/** The text in pieces of a size that is worth sending. A client that takes none in its time is cut. */
async function* watched(
  text: AsyncIterable<string> | Iterable<string>,
  { reply, stalls, unsent }: Watching,
): AsyncGenerator<Buffer> {
  const { raw: response } = reply;
  let piece = "";
  try {
    for await (const line of text) {
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
