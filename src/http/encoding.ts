import { constants } from "node:zlib";
import compress from "@fastify/compress";
import type { FastifyInstance, FastifyReply } from "fastify";
import etag from "@fastify/etag";

/** Smaller answers gain nothing. */
const MIN_COMPRESSED_BYTES = 1024;

/**
 * Compresses the text and JSON answers of a scope's routes for clients that accept it. Streams are
 * not touched.
 */
export async function compressAnswers(scope: FastifyInstance): Promise<void> {
  await scope.register(compress, {
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
