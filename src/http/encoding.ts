import zlib, { constants } from "node:zlib";
import compress from "@fastify/compress";
import type { FastifyInstance, FastifyReply, onSendHookHandler } from "fastify";
import etag from "@fastify/etag";

import { LARGE_ANSWER_BYTES, MAX_COMPRESSED } from "../core/limits.ts";

/** Smaller answers gain nothing. */
const MIN_COMPRESSED_BYTES = 1024;

/** Makes compressors that are counted until all of an answer was taken, or its client is gone. */
export interface Compressors {
  /** Number of compressors that hold memory now. */
  readonly running: number;
  readonly zlib: Pick<
    typeof zlib,
    "createBrotliCompress" | "createGzip" | "brotliCompressSync" | "gzipSync"
  >;
}

export function createCompressors(): Compressors {
  let running = 0;
  const counted = <Stream extends NodeJS.EventEmitter>(stream: Stream): Stream => {
    running += 1;
    stream.once("close", () => {
      running -= 1;
    });
    return stream;
  };
  return {
    get running() {
      return running;
    },
    zlib: {
      ...zlib,
      createBrotliCompress: (options) => counted(zlib.createBrotliCompress(options)),
      createGzip: (options) => counted(zlib.createGzip(options)),
    },
  };
}

/**
 * Compresses the text and JSON answers of a scope's routes for clients that accept it; a large one only while few others
 * are, because it takes memory until its client has taken it. Streams are not touched.
 */
export async function compressAnswers(
  scope: FastifyInstance,
  compressors: Compressors,
): Promise<void> {
  const limit: onSendHookHandler = (request, _reply, payload, done) => {
    if (compressors.running >= MAX_COMPRESSED && !isSmall(payload)) {
      delete request.raw.headers["accept-encoding"];
    }
    done(null, payload);
  };
  // before that of the plugin
  scope.addHook("onRoute", (route) => {
    route.onSend = [...[route.onSend ?? []].flat(), limit];
  });
  await scope.register(compress, {
    zlib: compressors.zlib,
    threshold: MIN_COMPRESSED_BYTES,
    encodings: ["br", "gzip"],
    // bodies are not decompressed: a compressed one is refused
    globalDecompression: false,
    // the default quality takes 50 times as long for a few percent, and the default window 8 MiB for each unread answer
    brotliOptions: {
      params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 },
    },
  });
}

function isSmall(payload: unknown): boolean {
  const isText = typeof payload === "string" || Buffer.isBuffer(payload);
  return isText && payload.length <= LARGE_ANSWER_BYTES;
}

/**
 * Gives the answers of a scope's routes an `ETag`, so that a client that has one already gets 304.
 * For what changes with the program's version only. Clients may keep these answers, but must ask.
 */
export async function tagAnswers(scope: FastifyInstance): Promise<void> {
  // the plugin compares with one tag only, but HTTP allows a list
  await scope.register(etag, { weak: true, replyWith304: false });
  scope.addHook("onSend", async (request, reply, payload) => {
    if (!["GET", "HEAD"].includes(request.method) || reply.statusCode >= 400) {
      return payload;
    }
    reply.header("cache-control", "no-cache");
    varyByEncoding(reply);
    if (!isKnown(request.headers["if-none-match"], String(reply.getHeader("etag")))) {
      return payload;
    }
    reply.code(304).removeHeader("content-type");
    return null;
  });
}

/** The answer has other bytes for a client that takes compressed ones: caches keep both. */
function varyByEncoding(reply: FastifyReply): void {
  const earlier = [reply.getHeader("vary") ?? []].flat();
  reply.header("vary", [...earlier, "accept-encoding"].join(", "));
}

/** RFC 9110, 13.1.2: a list of tags or `*`, compared without regard to `W/`. */
function isKnown(condition: string | undefined, tag: string): boolean {
  const known = (condition ?? "").split(",").map((each) => each.trim().replace(/^W\//, ""));
  return known.includes("*") || known.includes(tag.replace(/^W\//, ""));
}
