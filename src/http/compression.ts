import { constants } from "node:zlib";

import compress from "@fastify/compress";
import type { FastifyInstance } from "fastify";

/** Smaller answers gain nothing. */
const MIN_COMPRESSED_BYTES = 1024;

/** Compresses the text and JSON answers of a scope's routes for clients that accept it. Streams are not touched. */
export async function compressAnswers(scope: FastifyInstance): Promise<void> {
  await scope.register(compress, {
    threshold: MIN_COMPRESSED_BYTES,
    encodings: ["br", "gzip"],
    // bodies are read as they are: a compressed one is refused
    globalDecompression: false,
    // the default quality takes 50 times as long for a few percent
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
  });
}
